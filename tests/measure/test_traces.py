from __future__ import annotations

from benchgate.measure.workers.traces import goroutines_of_users

ABORTED = """\
it printed this
SIGABRT: abort
PC=0x4f8778 m=0 sigcode=0

goroutine 0 [idle]:
runtime.futex()
\t/usr/lib/go/src/runtime/sys_linux_amd64.s:560 +0x21 fp=0x7f sp=0x70 pc=0x47

goroutine 1 [chan receive]:
testing.(*benchgateWorker).sample(0xc00008e100, 0xc0000ae240)
\t/usr/lib/go/src/testing/benchgate.go:206 +0x111 fp=0xc0 sp=0xb0 pc=0x4a
main.main()
\t_testmain.go:51 +0x1aa fp=0xc0 sp=0xb0 pc=0x4f

goroutine 10 [running]:
example.com/text.BenchmarkSpins(0xc0000ae240?)
\t{root}/h_test.go:17 +0x18 fp=0xc000039f20 sp=0xc000039f18 pc=0x4f8778
created by testing.(*benchgateWorker).sample
\t/usr/lib/go/src/testing/benchgate.go:199 +0xfb

rax    0x0
rip    0x4f8778
"""


def test_of_an_aborted_program_only_goroutines_with_code_of_users_are_shown() -> None:
    assert (
        goroutines_of_users(ABORTED)
        == """\
it printed this
goroutine 10 [running]:
example.com/text.BenchmarkSpins(0xc0000ae240?)
\t{root}/h_test.go:17 +0x18
created by testing.(*benchgateWorker).sample
\t/usr/lib/go/src/testing/benchgate.go:199 +0xfb"""
    )


def test_if_there_is_none_all_goroutines_are_shown() -> None:
    text = ABORTED.partition("goroutine 10")[0]
    shown = goroutines_of_users(text)
    assert shown.startswith("it printed this\ngoroutine 0 [idle]:\nruntime.futex()\n")
    assert shown.endswith("_testmain.go:51 +0x1aa")


def test_what_others_print_stays() -> None:
    assert goroutines_of_users("panic: no\n\nr1 0x0") == "panic: no\n\nr1 0x0"
