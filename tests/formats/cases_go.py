"""What genuine outputs of go test hold."""

from __future__ import annotations

from tests.formats.case import Case

GO = [
    Case(
        "go",
        "go/count3.txt",
        "go",
        {
            "example.com/demo.BenchmarkSort/n=10/rev": (
                "time s lower sampled 1x3 loops=20 1.784e-06",
                "B/op B lower exact 1x3 loops=20 104",
                "allocs/op  lower exact 1x3 loops=20 2",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev": (
                "time s lower sampled 1x3 loops=20 5.536e-06",
                "B/op B lower exact 1x3 loops=20 8216",
                "allocs/op  lower exact 1x3 loops=20 2",
            ),
            "example.com/demo.BenchmarkBuild": (
                "time s lower sampled 1x3 loops=20 9.876e-07",
                "throughput B/s higher sampled 1x3 loops=20 1.037e+09",
                "p99-ns s lower sampled 1x3 loops=20 9.9e-08",
                "widgets/op widgets/op lower sampled 1x3 loops=20 42.5",
                "B/op B lower exact 1x3 loops=20 1024",
                "allocs/op  lower exact 1x3 loops=20 1",
            ),
            "example.com/demo.BenchmarkPar": (
                "time s lower sampled 1x3 loops=20 2.486e-06",
                "B/op B lower exact 1x3 loops=20 56",
                "allocs/op  lower exact 1x3 loops=20 0",
            ),
        },
    ),
    Case(
        "go",
        "go/cpu.txt",
        "go",
        {
            "example.com/demo.BenchmarkSort/n=10/rev": (
                "time s lower sampled 1x2 loops=20 1.428e-07",
                "B/op B lower exact 1x2 loops=20 80",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkSort/n=10/rev-2": (
                "time s lower sampled 1x2 loops=20 2.098e-07",
                "B/op B lower exact 1x2 loops=20 80",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkSort/n=10/rev-4": (
                "time s lower sampled 1x2 loops=20 4.451e-07",
                "B/op B lower exact 1x2 loops=20 80",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev": (
                "time s lower sampled 1x2 loops=20 5.05e-06",
                "B/op B lower exact 1x2 loops=20 8192",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev-2": (
                "time s lower sampled 1x2 loops=20 8.317e-06",
                "B/op B lower exact 1x2 loops=20 8192",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev-4": (
                "time s lower sampled 1x2 loops=20 1.401e-05",
                "B/op B lower exact 1x2 loops=20 8192",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkBuild": (
                "time s lower sampled 1x2 loops=20 3.08e-06",
                "throughput B/s higher sampled 1x2 loops=20 3.325e+08",
                "p99-ns s lower sampled 1x2 loops=20 9.9e-08",
                "widgets/op widgets/op lower sampled 1x2 loops=20 42.5",
            ),
            "example.com/demo.BenchmarkBuild-2": (
                "time s lower sampled 1x2 loops=20 3.4e-06",
                "throughput B/s higher sampled 1x2 loops=20 3.012e+08",
                "p99-ns s lower sampled 1x2 loops=20 9.9e-08",
                "widgets/op widgets/op lower sampled 1x2 loops=20 42.5",
            ),
            "example.com/demo.BenchmarkBuild-4": (
                "time s lower sampled 1x2 loops=20 3.016e-06",
                "throughput B/s higher sampled 1x2 loops=20 3.395e+08",
                "p99-ns s lower sampled 1x2 loops=20 9.9e-08",
                "widgets/op widgets/op lower sampled 1x2 loops=20 42.5",
            ),
            "example.com/demo.BenchmarkPar": ("time s lower sampled 1x2 loops=20 8.198e-07",),
            "example.com/demo.BenchmarkPar-2": ("time s lower sampled 1x2 loops=20 7.726e-07",),
            "example.com/demo.BenchmarkPar-4": ("time s lower sampled 1x2 loops=20 2.853e-06",),
            "example.com/demo.BenchmarkLog": ("time s lower sampled 1x2 loops=20 1.68e-06",),
            "example.com/demo.BenchmarkLog-2": ("time s lower sampled 1x2 loops=20 2.275e-06",),
            "example.com/demo.BenchmarkLog-4": ("time s lower sampled 1x2 loops=20 4.824e-06",),
            "example.com/demo/sub.BenchmarkLen": ("time s lower sampled 1x2 loops=20 9e-09",),
            "example.com/demo/sub.BenchmarkLen-2": ("time s lower sampled 1x2 loops=20 9.05e-09",),
            "example.com/demo/sub.BenchmarkLen-4": ("time s lower sampled 1x2 loops=20 1.805e-08",),
            "example.com/demo/sub.BenchmarkLen16/x-4": (
                "time s lower sampled 1x2 loops=20 8.5e-09",
            ),
            "example.com/demo/sub.BenchmarkLen16/x-4-2": (
                "time s lower sampled 1x2 loops=20 1.755e-08",
            ),
            "example.com/demo/sub.BenchmarkLen16/x-4-4": (
                "time s lower sampled 1x2 loops=20 2.155e-08",
            ),
            "example.com/demo/sub.BenchmarkPanic/sub_1": "it failed under go test\ns_test.go:5: no",
            "example.com/demo/sub.BenchmarkPanic-2": "it failed under go test",
            "example.com/demo/sub.BenchmarkPanic-4": "it failed under go test",
            "example.com/demo/sub.BenchmarkExtra": ("hits/s hits/s higher sampled 1x2 loops=20 3",),
            "example.com/demo/sub.BenchmarkExtra-2": (
                "hits/s hits/s higher sampled 1x2 loops=20 3",
            ),
            "example.com/demo/sub.BenchmarkExtra-4": (
                "hits/s hits/s higher sampled 1x2 loops=20 3",
            ),
        },
    ),
    Case(
        "go",
        "go/fail-and-noise.txt",
        "go",
        {
            "example.com/demo.BenchmarkSort/n=10/rev": (
                "time s lower sampled 1x1 loops=10 4.941e-07",
                "B/op B lower exact 1x1 loops=10 104",
                "allocs/op  lower exact 1x1 loops=10 2",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev": (
                "time s lower sampled 1x1 loops=10 1.174e-05",
                "B/op B lower exact 1x1 loops=10 8216",
                "allocs/op  lower exact 1x1 loops=10 2",
            ),
            "example.com/demo.BenchmarkBuild": (
                "time s lower sampled 1x1 loops=10 4.046e-06",
                "throughput B/s higher sampled 1x1 loops=10 2.531e+08",
                "p99-ns s lower sampled 1x1 loops=10 9.9e-08",
                "widgets/op widgets/op lower sampled 1x1 loops=10 42.5",
            ),
            "example.com/demo.BenchmarkPar": ("time s lower sampled 1x1 loops=10 3.387e-07",),
            "example.com/demo.BenchmarkFail": "it failed under go test\ndemo_test.go:8: boom",
            "example.com/demo.BenchmarkLog": ("time s lower sampled 1x1 loops=10 1.959e-06",),
        },
    ),
    Case(
        "go",
        "go/json.ndjson",
        "go",
        {
            "example.com/demo.BenchmarkSort/n=10/rev": (
                "time s lower sampled 1x1 loops=20107 3.87e-07",
                "B/op B lower exact 1x1 loops=20107 104",
                "allocs/op  lower exact 1x1 loops=20107 2",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev": (
                "time s lower sampled 1x1 loops=1366 7.427e-06",
                "B/op B lower exact 1x1 loops=1366 8216",
                "allocs/op  lower exact 1x1 loops=1366 2",
            ),
            "example.com/demo.BenchmarkBuild": (
                "time s lower sampled 1x1 loops=14258 3.519e-07",
                "throughput B/s higher sampled 1x1 loops=14258 2.91e+09",
                "p99-ns s lower sampled 1x1 loops=14258 9.9e-08",
                "widgets/op widgets/op lower sampled 1x1 loops=14258 42.5",
            ),
            "example.com/demo.BenchmarkPar": ("time s lower sampled 1x1 loops=33345640 2.01e-10",),
        },
        ("example.com/demo.BenchmarkSkip: go test skipped it",),
    ),
    Case(
        "go",
        "go/fail.ndjson",
        "go",
        {
            "example.com/demo.BenchmarkSort/n=10/rev": (
                "time s lower sampled 1x2 loops=20 3.44e-07",
                "B/op B lower exact 1x2 loops=20 80",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev": (
                "time s lower sampled 1x2 loops=20 6.24e-06",
                "B/op B lower exact 1x2 loops=20 8192",
                "allocs/op  lower exact 1x2 loops=20 1",
            ),
            "example.com/demo.BenchmarkBuild": (
                "time s lower sampled 1x2 loops=20 2.857e-06",
                "throughput B/s higher sampled 1x2 loops=20 3.584e+08",
                "p99-ns s lower sampled 1x2 loops=20 9.9e-08",
                "widgets/op widgets/op lower sampled 1x2 loops=20 42.5",
            ),
            "example.com/demo.BenchmarkPar": ("time s lower sampled 1x2 loops=20 8.588e-07",),
            "example.com/demo.BenchmarkLog": ("time s lower sampled 1x2 loops=20 6.258e-06",),
            "example.com/demo/sub.BenchmarkLen": ("time s lower sampled 1x2 loops=20 1.655e-08",),
            "example.com/demo/sub.BenchmarkLen16/x-4": ("time s lower sampled 1x2 loops=20 1e-08",),
            "example.com/demo/sub.BenchmarkPanic/sub_1": "it failed under go test",
            "example.com/demo/sub.BenchmarkExtra": ("hits/s hits/s higher sampled 1x2 loops=20 3",),
        },
        ("example.com/demo.BenchmarkSkip: go test skipped it",),
    ),
    Case(
        "go",
        "go/runs.txt",
        "go",
        {
            "example.com/demo.BenchmarkSort/n=10/rev": (
                "time s lower sampled 3x2 loops=50 1.773e-07",
                "B/op B lower exact 3x2 loops=50 80",
                "allocs/op  lower exact 3x2 loops=50 1",
            ),
            "example.com/demo.BenchmarkSort/n=1000/rev": (
                "time s lower sampled 3x2 loops=50 5.1e-06",
                "B/op B lower exact 3x2 loops=50 8192",
                "allocs/op  lower exact 3x2 loops=50 1",
            ),
            "example.com/demo/sub.BenchmarkLen": ("time s lower sampled 3x2 loops=50 1.002e-08",),
            "example.com/demo/sub.BenchmarkLen16/x-4": (
                "time s lower sampled 3x2 loops=50 9.22e-09",
            ),
        },
    ),
]
