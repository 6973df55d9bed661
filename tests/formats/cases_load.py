"""What the genuine files of tools hold that put load on a server."""

from __future__ import annotations

from tests.formats.case import Case

K6 = [
    Case(
        "k6",
        "k6/summary-export.json",
        "k6",
        {
            "iterations": (
                "throughput 1/s higher summary 1x1 loops=1 9667",
                "error_ratio  lower exact 1x1 loops=19416 0",
            ),
            "checks": ("passed_ratio  higher summary 1x1 loops=19416 0.9012",),
            "http_req_duration": (
                "time s lower summary 1x1 loops=1 0.0002085",
                "time_p90 s lower summary 1x1 loops=1 0.0006288",
                "time_p95 s lower summary 1x1 loops=1 0.001157",
                "time_p99 s lower summary 1x1 loops=1 0.003789",
                "throughput 1/s higher summary 1x1 loops=1 9667",
                "error_ratio  lower exact 1x1 loops=19416 0.09884",
            ),
            "http_req_receiving": (
                "time s lower summary 1x1 loops=1 6.085e-06",
                "time_p90 s lower summary 1x1 loops=1 2.346e-05",
                "time_p95 s lower summary 1x1 loops=1 6.704e-05",
                "time_p99 s lower summary 1x1 loops=1 0.0003622",
            ),
            "http_req_blocked": (
                "time s lower summary 1x1 loops=1 8.56e-07",
                "time_p90 s lower summary 1x1 loops=1 1.611e-06",
                "time_p95 s lower summary 1x1 loops=1 2.163e-06",
                "time_p99 s lower summary 1x1 loops=1 3.811e-06",
            ),
            "http_req_waiting": (
                "time s lower summary 1x1 loops=1 0.0001918",
                "time_p90 s lower summary 1x1 loops=1 0.0005702",
                "time_p95 s lower summary 1x1 loops=1 0.00103",
                "time_p99 s lower summary 1x1 loops=1 0.003588",
            ),
            "iteration_duration": (
                "time s lower summary 1x1 loops=1 0.0002361",
                "time_p90 s lower summary 1x1 loops=1 0.0006789",
                "time_p95 s lower summary 1x1 loops=1 0.001238",
                "time_p99 s lower summary 1x1 loops=1 0.004011",
            ),
            "http_req_sending": (
                "time s lower summary 1x1 loops=1 1.912e-06",
                "time_p90 s lower summary 1x1 loops=1 3.898e-06",
                "time_p95 s lower summary 1x1 loops=1 5.476e-06",
                "time_p99 s lower summary 1x1 loops=1 2.06e-05",
            ),
            "http_req_duration{expected_response:true}": (
                "time s lower summary 1x1 loops=1 0.0002072",
                "time_p90 s lower summary 1x1 loops=1 0.0006168",
                "time_p95 s lower summary 1x1 loops=1 0.001118",
                "time_p99 s lower summary 1x1 loops=1 0.003705",
            ),
        },
        (
            (
                "the file does not say whether more of these is better: data_received, "
                "data_sent, vus, vus_max"
            ),
            (
                "these times are 0 if a connection is open already: http_req_connecting, "
                "http_req_tls_handshaking"
            ),
        ),
    ),
    Case(
        "k6",
        "k6/handle-summary.json",
        "k6",
        {
            "http_req_waiting": (
                "time s lower summary 1x1 loops=1 0.0004898",
                "time_p90 s lower summary 1x1 loops=1 0.0008988",
                "time_p95 s lower summary 1x1 loops=1 0.001836",
            ),
            "iteration_duration": (
                "time s lower summary 1x1 loops=1 0.04394",
                "time_p90 s lower summary 1x1 loops=1 0.04416",
                "time_p95 s lower summary 1x1 loops=1 0.04514",
            ),
            "http_req_duration{name:E}": (
                "time s lower summary 1x1 loops=1 0.0437",
                "time_p90 s lower summary 1x1 loops=1 0.04397",
                "time_p95 s lower summary 1x1 loops=1 0.04608",
            ),
            "checks": ("passed_ratio  higher summary 1x1 loops=30 0.9333",),
            "http_req_sending": (
                "time s lower summary 1x1 loops=1 2.259e-05",
                "time_p90 s lower summary 1x1 loops=1 4.125e-05",
                "time_p95 s lower summary 1x1 loops=1 4.632e-05",
            ),
            "my_wait": (
                "time s lower summary 1x1 loops=1 0.0004898",
                "time_p90 s lower summary 1x1 loops=1 0.0009937",
                "time_p95 s lower summary 1x1 loops=1 0.002633",
            ),
            "http_req_duration{expected_response:true}": (
                "time s lower summary 1x1 loops=1 0.0437",
                "time_p90 s lower summary 1x1 loops=1 0.04394",
                "time_p95 s lower summary 1x1 loops=1 0.04535",
            ),
            "http_req_blocked": (
                "time s lower summary 1x1 loops=1 5.283e-06",
                "time_p90 s lower summary 1x1 loops=1 1.942e-05",
                "time_p95 s lower summary 1x1 loops=1 0.0001098",
            ),
            "http_req_duration": (
                "time s lower summary 1x1 loops=1 0.04372",
                "time_p90 s lower summary 1x1 loops=1 0.04394",
                "time_p95 s lower summary 1x1 loops=1 0.04498",
                "throughput 1/s higher summary 1x1 loops=1 57.19",
                "error_ratio  lower exact 1x1 loops=36 0.05556",
            ),
            "http_req_receiving": (
                "time s lower summary 1x1 loops=1 0.04316",
                "time_p90 s lower summary 1x1 loops=1 0.04334",
                "time_p95 s lower summary 1x1 loops=1 0.04415",
            ),
            "group_duration": (
                "time s lower summary 1x1 loops=1 0.04393",
                "time_p90 s lower summary 1x1 loops=1 0.04416",
                "time_p95 s lower summary 1x1 loops=1 0.04624",
            ),
            "iterations": (
                "throughput 1/s higher summary 1x1 loops=1 57.19",
                "error_ratio  lower exact 1x1 loops=36 0",
            ),
        },
        (
            (
                "the file does not say whether more of these is better: data_received, "
                "data_sent, my_count, my_gauge, my_rate, my_size"
            ),
            (
                "these times are 0 if a connection is open already: http_req_connecting, "
                "http_req_tls_handshaking"
            ),
        ),
    ),
    Case(
        "k6",
        "k6/points.ndjson",
        "k6",
        {
            "http_req_duration{scenario:warm,method:GET,name:http://127.0.0.1:8099/}": (
                "time s lower sampled 1x3 loops=1 0.0006997",
                "throughput 1/s higher summary 1x1 loops=1 34.36",
                "error_ratio  lower exact 1x1 loops=3 0",
            ),
            "http_req_blocked{scenario:warm,method:GET,name:http://127.0.0.1:8099/}": (
                "time s lower sampled 1x3 loops=1 0.0009567",
            ),
            "http_req_sending{scenario:warm,method:GET,name:http://127.0.0.1:8099/}": (
                "time s lower sampled 1x3 loops=1 0.0001974",
            ),
            "http_req_waiting{scenario:warm,method:GET,name:http://127.0.0.1:8099/}": (
                "time s lower sampled 1x3 loops=1 0.0004497",
            ),
            "http_req_receiving{scenario:warm,method:GET,name:http://127.0.0.1:8099/}": (
                "time s lower sampled 1x3 loops=1 5.251e-05",
            ),
            "iteration_duration{scenario:warm}": ("time s lower sampled 1x1 loops=1 0.001885",),
            "iterations{scenario:warm}": (
                "throughput 1/s higher summary 1x1 loops=1 11.45",
                "error_ratio  lower exact 1x1 loops=1 0",
            ),
            "http_req_duration{scenario:main,group:::shop,method:GET,name:E}": (
                "time s lower sampled 1x3 loops=1 0.004271",
                "throughput 1/s higher summary 1x1 loops=1 34.36",
                "error_ratio  lower exact 1x1 loops=3 0",
            ),
            "http_req_blocked{scenario:main,group:::shop,method:GET,name:E}": (
                "time s lower sampled 1x3 loops=1 0.0002586",
            ),
            "http_req_sending{scenario:main,group:::shop,method:GET,name:E}": (
                "time s lower sampled 1x3 loops=1 4.495e-05",
            ),
            "http_req_waiting{scenario:main,group:::shop,method:GET,name:E}": (
                "time s lower sampled 1x3 loops=1 0.003829",
            ),
            "http_req_receiving{scenario:main,group:::shop,method:GET,name:E}": (
                "time s lower sampled 1x3 loops=1 0.0003974",
            ),
            "checks{scenario:main,group:::shop,check:status 200}": (
                "passed_ratio  higher summary 1x1 loops=3 1",
            ),
            "my_wait{scenario:main,group:::shop}": ("time s lower sampled 1x3 loops=1 0.003829",),
            "group_duration{scenario:main,group:::shop}": (
                "time s lower sampled 1x3 loops=1 0.004923",
            ),
            "iteration_duration{scenario:main}": ("time s lower sampled 1x2 loops=1 0.004977",),
            "iterations{scenario:main}": (
                "throughput 1/s higher summary 1x1 loops=1 22.91",
                "error_ratio  lower exact 1x1 loops=2 0",
            ),
        },
        (
            (
                "the file does not say whether more of these is better: data_received, "
                "data_sent, my_count, my_gauge, my_rate, my_size"
            ),
            (
                "these times are 0 if a connection is open already: http_req_connecting, "
                "http_req_tls_handshaking"
            ),
        ),
    ),
]
LOCUST = [
    Case(
        "locust",
        "locust/stats.csv",
        "locust",
        {
            "GET /": (
                "time s lower summary 1x1 loops=1 0.001526",
                "throughput 1/s higher summary 1x1 loops=1 1221",
                "error_ratio  lower exact 1x1 loops=3671 0",
            ),
            "GET /e?[id]": (
                "time s lower summary 1x1 loops=1 0.001544",
                "throughput 1/s higher summary 1x1 loops=1 413.5",
                "error_ratio  lower exact 1x1 loops=1243 0.1062",
            ),
        },
    ),
    Case(
        "locust",
        "locust/summary.json",
        "locust",
        {
            "GET /e?[id]": (
                "time s lower summary 1x1 loops=1 0.001533",
                "throughput 1/s higher summary 1x1 loops=1 423.3",
                "error_ratio  lower exact 1x1 loops=1561 0.1051",
            ),
            "GET /": (
                "time s lower summary 1x1 loops=1 0.001519",
                "throughput 1/s higher summary 1x1 loops=1 1236",
                "error_ratio  lower exact 1x1 loops=4557 0",
            ),
        },
    ),
    Case(
        "locust",
        "locust/no-times.json",
        "locust",
        {
            "TASK none": (
                "throughput 1/s higher summary 1x1 loops=1 13.78",
                "error_ratio  lower exact 1x1 loops=8 0",
            ),
            "GET /": (
                "time s lower summary 1x1 loops=1 0.04155",
                "throughput 1/s higher summary 1x1 loops=1 22.39",
                "error_ratio  lower exact 1x1 loops=13 0",
            ),
            "plain": (
                "time s lower summary 1x1 loops=1 0.0125",
                "throughput 1/s higher summary 1x1 loops=1 10.33",
                "error_ratio  lower exact 1x1 loops=6 0",
            ),
            'GET /e, "quoted"': (
                "time s lower summary 1x1 loops=1 0.04956",
                "throughput 1/s higher summary 1x1 loops=1 10.33",
                "error_ratio  lower exact 1x1 loops=6 0.1667",
            ),
        },
    ),
    Case(
        "locust",
        "locust/no-answer.csv",
        "locust",
        {
            "GET /": (
                "line 2: all 2523 requests failed, and no answer has content: the server "
                "answered no request, or only with empty answers"
            ),
        },
    ),
]
WRK = [
    Case(
        "wrk",
        "wrk/latency.txt",
        "wrk",
        {
            "http://127.0.0.1:8099/": (
                "time s lower summary 1x1 loops=1 0.0006434",
                "time_p50 s lower summary 1x1 loops=1 0.000196",
                "time_p75 s lower summary 1x1 loops=1 0.000275",
                "time_p90 s lower summary 1x1 loops=1 0.000797",
                "time_p99 s lower summary 1x1 loops=1 0.01092",
                "throughput 1/s higher summary 1x1 loops=1 3.322e+04",
                "error_ratio  lower exact 1x1 loops=69762 0",
            ),
        },
    ),
    Case(
        "wrk",
        "wrk/errors.txt",
        "wrk",
        {
            "http://127.0.0.1:8099/e": (
                "time s lower summary 1x1 loops=1 0.04331",
                "throughput 1/s higher summary 1x1 loops=1 87.65",
                "error_ratio  lower exact 1x1 loops=88 0.1023",
            ),
        },
    ),
    Case(
        "wrk",
        "wrk/socket-errors.txt",
        "wrk",
        {
            "http://127.0.0.1:8099/": (
                "time s lower summary 1x1 loops=1 0.0006079",
                "throughput 1/s higher summary 1x1 loops=1 15.85",
                "error_ratio  lower exact 1x1 loops=54 0.2222",
            ),
        },
    ),
    Case(
        "wrk",
        "wrk/two.txt",
        "wrk",
        {
            "http://127.0.0.1:8099/": (
                "time s lower summary 2x1 loops=1 0.0428",
                "time_p50 s lower summary 2x1 loops=1 0.04398",
                "time_p75 s lower summary 2x1 loops=1 0.04402",
                "time_p90 s lower summary 2x1 loops=1 0.04929",
                "time_p99 s lower summary 2x1 loops=1 0.05357",
                "throughput 1/s higher summary 2x1 loops=1 45.94",
                "error_ratio  lower exact 2x1 loops=46 0",
            ),
        },
    ),
    Case(
        "wrk",
        "wrk/lua-json.json",
        "wrk",
        {
            "wrk": (
                "throughput 1/s higher summary 1x1 loops=1 5.527e+04",
                "time_p50 s lower summary 1x1 loops=1 7e-05",
                "time_p99 s lower summary 1x1 loops=1 0.000291",
            ),
        },
        ("errors: the file does not say of how many requests",),
    ),
    Case(
        "wrk",
        "wrk/no-answer.txt",
        "wrk",
        {
            "http://127.0.0.1:8661/": (
                "line 1: the server answered no request; the tool counted 15857 errors"
            ),
        },
    ),
]
AB = [
    Case(
        "ab",
        "ab/out.txt",
        "ab",
        {
            "http://127.0.0.1:8099/": (
                "time s lower summary 1x1 loops=1 0.000998",
                "throughput 1/s higher summary 1x1 loops=1 8018",
                "error_ratio  lower exact 1x1 loops=2000 0",
            ),
        },
    ),
    Case(
        "ab",
        "ab/two-errors.txt",
        "ab",
        {
            "http://127.0.0.1:8099/e": (
                "time s lower summary 2x1 loops=1 0.001766",
                "throughput 1/s higher summary 2x1 loops=1 2265",
                "error_ratio  lower exact 2x1 loops=200 0.1",
            ),
        },
    ),
    Case(
        "ab",
        "ab/refused.txt",
        "ab",
        {
            "(no name)": ("line 1: the server answered no request: Connection refused (111)"),
        },
    ),
    Case(
        "ab",
        "ab/percentiles.csv",
        "ab",
        {
            "ab": (
                "time_p50 s lower summary 1x1 loops=1 0.000629",
                "time_p75 s lower summary 1x1 loops=1 0.000988",
                "time_p90 s lower summary 1x1 loops=1 0.001962",
                "time_p95 s lower summary 1x1 loops=1 0.003069",
                "time_p99 s lower summary 1x1 loops=1 0.005104",
            ),
        },
    ),
    Case(
        "ab",
        "ab/no-answer.txt",
        "ab",
        {
            "http://127.0.0.1:8661/": (
                "line 1: the server answered no request; the tool counted 8 errors"
            ),
        },
    ),
]
AUTOCANNON = [
    Case(
        "autocannon",
        "autocannon/out.json",
        "autocannon",
        {
            "http://127.0.0.1:8099/": (
                "throughput 1/s higher summary 1x1 loops=1 4.138e+04",
                "error_ratio  lower exact 1x1 loops=82763 0",
            ),
        },
        (
            (
                "http://127.0.0.1:8099/: too coarse in whole milliseconds (less than 50 ms): "
                "time, time_p50, time_p75, time_p90, time_p99"
            ),
        ),
    ),
    Case(
        "autocannon",
        "autocannon/errors.json",
        "autocannon",
        {
            "http://127.0.0.1:8099/e": (
                "throughput 1/s higher summary 1x1 loops=1 83.5",
                "time_p90 s lower summary 1x1 loops=1 0.05",
                "time_p99 s lower summary 1x1 loops=1 0.088",
                "error_ratio  lower exact 1x1 loops=167 0.09581",
            ),
        },
        (
            (
                "http://127.0.0.1:8099/e: too coarse in whole milliseconds (less than 50 ms): "
                "time, time_p50, time_p75"
            ),
        ),
    ),
    Case(
        "autocannon",
        "autocannon/refused.json",
        "autocannon",
        {
            "http://127.0.0.1:8099/": (
                "line 1: the server answered no request; the tool counted 2716 errors"
            ),
        },
    ),
    Case(
        "autocannon",
        "autocannon/two.json",
        "autocannon",
        {
            "a page": (
                "throughput 1/s higher summary 2x1 loops=1 92",
                "time_p99 s lower summary 2x1 loops=1 0.05",
                "error_ratio  lower exact 2x1 loops=88 0",
            ),
        },
        (
            (
                "a page: too coarse in whole milliseconds (less than 50 ms): time, time_p50, "
                "time_p75, time_p90"
            ),
        ),
    ),
]
PGBENCH = [
    Case(
        "pgbench",
        "pgbench/run.txt",
        "pgbench",
        {
            "<builtin: TPC-B (sort of)>[clients=2,mode=simple,scale=2]": (
                "time s lower summary 1x1 loops=1 0.00046",
                "throughput 1/s higher summary 1x1 loops=1 4342",
                "error_ratio  lower exact 1x1 loops=12998 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/multi.txt",
        "pgbench",
        {
            "multiple scripts[clients=2,mode=simple,scale=1]": (
                "time s lower summary 1x1 loops=1 0.003348",
                "throughput 1/s higher summary 1x1 loops=1 595.4",
                "error_ratio  lower exact 1x1 loops=1192 0",
            ),
            "SQL script 1: <builtin: TPC-B (sort of)>[clients=2,mode=simple,scale=1]": (
                "time s lower summary 1x1 loops=1 0.0122",
                "throughput 1/s higher summary 1x1 loops=1 141.9",
                "error_ratio  lower exact 1x1 loops=284 0",
            ),
            "SQL script 2: <builtin: select only>[clients=2,mode=simple,scale=1]": (
                "time s lower summary 1x1 loops=1 0.000579",
                "throughput 1/s higher summary 1x1 loops=1 453.5",
                "error_ratio  lower exact 1x1 loops=908 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/file.txt",
        "pgbench",
        {
            "s1.sql[clients=1,mode=prepared,scale=1]": (
                "time s lower summary 2x1 loops=1 0.000197",
                "throughput 1/s higher summary 2x1 loops=1 5066",
                "error_ratio  lower exact 2x1 loops=200 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/abort.txt",
        "pgbench",
        {
            "bad.sql[clients=2,mode=simple,scale=1]": (
                "line 4: the run was aborted, so its results are incomplete"
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/connect.txt",
        "pgbench",
        {
            "<builtin: select only>[clients=2,mode=simple,scale=1]": (
                "time s lower summary 1x1 loops=1 0.02641",
                "throughput 1/s higher summary 1x1 loops=1 75.74",
                "error_ratio  lower exact 1x1 loops=152 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/rate.txt",
        "pgbench",
        {
            "<builtin: TPC-B (sort of)>[clients=4,mode=simple,scale=1]": (
                "time s lower summary 1x1 loops=1 0.0128",
                "throughput 1/s higher summary 1x1 loops=1 96.16",
                "error_ratio  lower exact 1x1 loops=190 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/aggregate.log",
        "pgbench",
        {
            "pgbench": (
                "time s lower sampled 1x2 loops=4074 0.0004755",
                "error_ratio  lower exact 1x1 loops=8149 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/rate.log",
        "pgbench",
        {
            "pgbench": (
                "time s lower sampled 1x2 loops=45 0.01748",
                "error_ratio  lower exact 1x1 loops=91 0",
            ),
        },
    ),
    Case(
        "pgbench",
        "pgbench/transactions.log",
        "pgbench",
        {
            "pgbench[script=0]": (
                "time s lower sampled 1x200 loops=1 0.01332",
                "error_ratio  lower exact 1x1 loops=200 0",
            ),
        },
    ),
]
