from locust import HttpUser, task


class Visitor(HttpUser):
    @task
    def front_page(self):
        self.client.get("/")
