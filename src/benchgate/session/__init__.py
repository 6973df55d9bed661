"""A measuring session: arms opened, rounds measured, and the record of them."""
