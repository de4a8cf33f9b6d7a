// SPDX-License-Identifier: BSD-2-Clause
/* Events by name: how a text is parsed, and where the caret points if it cannot be. */
#include "unit.h"

#include <ctype.h>

#include "event/event.h"

#define PMUS "tests/data/pmus"
#define BINARY "/opt/bin/server"

/* --- valid events --------------------------------------------------------------------------- */

/* "7:fn+0x10", "fn:3", "mod!fn%return" */
static void put_function(FILE *out, const struct event_function *f)
{
	fprintf(out, "%s%s%s", f->module ?: "", f->module ? "!" : "", f->name);
	if (f->offset)
		fprintf(out, "+0x%llx", f->offset);
	if (f->line)
		fprintf(out, ":%u", f->line);
	if (f->is_return)
		fputs("%return", out);
}

static void put_modifiers(FILE *out, const struct event_modifiers *m)
{
	u32 i;

	if (!m->len)
		return;
	fprintf(out, " %s%s%s%s%s", m->user ? "u" : "", m->kernel ? "k" : "",
		m->hypervisor ? "h" : "", m->guest ? "G" : "", m->host ? "H" : "");
	for (i = 0; i < m->precise; i++)
		fputc('p', out);
}

static void put_target(FILE *out, const struct event *e)
{
	const struct perf_event_attr *a = &e->attr;

	switch (e->type) {
	case EVENT_BREAKPOINT:
		fprintf(out, "%s%s%s%s%llx/%llu:%u", e->binary ?: "", e->binary ? ":" : "",
			e->symbol ?: "", e->symbol ? "+" : "", a->bp_addr, a->bp_len, a->bp_type);
		break;
	case EVENT_TRACEPOINT:
		fprintf(out, "%s|%s", e->system, e->tracepoint);
		break;
	case EVENT_USDT:
		fprintf(out, "%s:%s|%s", e->binary, e->system ?: "*", e->tracepoint);
		break;
	case EVENT_KERNEL_FUNCTION:
	case EVENT_USER_FUNCTION:
		fprintf(out, "%s%s", e->binary ?: "", e->binary ? ":" : "");
		put_function(out, &e->function);
		break;
	default:
		fprintf(out, "%u/%llx", a->type, a->config);
		if (a->config1 || a->config2)
			fprintf(out, ",%llx,%llx", a->config1, a->config2);
	}
}

/* Describes the events on one line. Events of a group carry its number. */
static char *described(const struct events *events)
{
	char *text = NULL, *copy;
	size_t len, i;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (i = 0; i < events->n; i++) {
		const struct event *e = &events->event[i];

		fprintf(out, "%s%s ", i ? "; " : "", event_type_name(e->type));
		if (e->group >= 0)
			fprintf(out, "{%d} ", e->group);
		put_target(out, e);
		put_modifiers(out, &e->modifiers);
	}
	assert_int_equal(fclose(out), 0);
	copy = strdup(text);
	assert_non_null(copy);
	free(text);
	return copy;
}

static const struct {
	const char *text, *binary, *is;
} good[] = {
	{ "cycles", NULL, "hardware 0/0" },
	{ "cpu-cycles", NULL, "hardware 0/0" },
	{ "instructions", NULL, "hardware 0/1" },
	{ "cache-references", NULL, "hardware 0/2" },
	{ "cache-misses", NULL, "hardware 0/3" },
	{ "branches", NULL, "hardware 0/4" },
	{ "branch-instructions", NULL, "hardware 0/4" },
	{ "branch-misses", NULL, "hardware 0/5" },
	{ "bus-cycles", NULL, "hardware 0/6" },
	{ "ref-cycles", NULL, "hardware 0/9" },
	{ "stalled-cycles-frontend", NULL, "hardware 0/7" },
	{ "idle-cycles-backend", NULL, "hardware 0/8" },
	{ "cycles:u", NULL, "hardware 0/0 u" },
	{ "cycles:k", NULL, "hardware 0/0 k" },
	{ "cycles:uk", NULL, "hardware 0/0 uk" },
	{ "cycles:ukh", NULL, "hardware 0/0 ukh" },
	{ "cycles:ppp", NULL, "hardware 0/0 ppp" },
	{ "cycles:upp", NULL, "hardware 0/0 upp" },
	{ "cycles:G", NULL, "hardware 0/0 G" },
	{ "cycles:GH", NULL, "hardware 0/0 GH" },
	{ "branch-misses:upp", NULL, "hardware 0/5 upp" },
	{ "L1-dcache-loads", NULL, "hardware 3/0" },
	{ "L1-dcache-load-misses", NULL, "hardware 3/10000" },
	{ "L1-d-loads", NULL, "hardware 3/0" },
	{ "l1d", NULL, "hardware 3/0" },
	{ "L1D-MISSES", NULL, "hardware 3/10000" },
	{ "L1-icache-prefetches", NULL, "hardware 3/201" },
	{ "L1-i-load-misses", NULL, "hardware 3/10001" },
	{ "LLC-stores", NULL, "hardware 3/102" },
	{ "LLC-speculative-load", NULL, "hardware 3/202" },
	{ "llc-write-miss", NULL, "hardware 3/10102" },
	{ "L2-loads", NULL, "hardware 3/2" },
	{ "dTLB-load-misses:u", NULL, "hardware 3/10003 u" },
	{ "d-tlb", NULL, "hardware 3/3" },
	{ "DTLB-STORE-MISSES", NULL, "hardware 3/10103" },
	{ "iTLB-load-misses", NULL, "hardware 3/10004" },
	{ "itlb", NULL, "hardware 3/4" },
	{ "branch", NULL, "hardware 3/5" },
	{ "branch-loads", NULL, "hardware 3/5" },
	{ "branch-load-misses", NULL, "hardware 3/10005" },
	{ "bpu-read-access", NULL, "hardware 3/5" },
	{ "btb-misses", NULL, "hardware 3/10005" },
	{ "node-prefetch-misses", NULL, "hardware 3/10206" },
	{ "l1d-misses-loads", NULL, "hardware 3/10000" },
	{ "L1-dcache-load-Reference", NULL, "hardware 3/0" },
	{ "LLC-load-ops", NULL, "hardware 3/2" },
	{ "cpu-clock", NULL, "software 1/0" },
	{ "page-faults:u", NULL, "software 1/2 u" },
	{ "task-clock", NULL, "software 1/1" },
	{ "page-faults", NULL, "software 1/2" },
	{ "faults", NULL, "software 1/2" },
	{ "minor-faults", NULL, "software 1/5" },
	{ "major-faults:k", NULL, "software 1/6 k" },
	{ "context-switches", NULL, "software 1/3" },
	{ "cs", NULL, "software 1/3" },
	{ "cs:uk", NULL, "software 1/3 uk" },
	{ "cpu-migrations", NULL, "software 1/4" },
	{ "migrations", NULL, "software 1/4" },
	{ "alignment-faults", NULL, "software 1/7" },
	{ "emulation-faults", NULL, "software 1/8" },
	{ "dummy", NULL, "software 1/9" },
	{ "bpf-output", NULL, "software 1/a" },
	{ "cgroup-switches", NULL, "software 1/b" },
	{ "duration_time", NULL, "software 1/9" },
	{ "r003c", NULL, "PMU 4/3c" },
	{ "r1", NULL, "PMU 4/1" },
	{ "rFFFFFFFFFFFFFFFF", NULL, "PMU 4/ffffffffffffffff" },
	{ "r1a8:u", NULL, "PMU 4/1a8 u" },
	{ "read", NULL, "PMU 4/ead" },
	{ "r3c", BINARY, "PMU 4/3c" },
	{ "read", BINARY, "user function /opt/bin/server:read" },
	{ "rde", BINARY, "user function /opt/bin/server:rde" },
	{ "cpu/cycles/", NULL, "PMU 0/0" },
	{ "cpu/cpu-cycles/", NULL, "PMU 4/3c" },
	{ "cpu/event=0x3c/", NULL, "PMU 4/3c" },
	{ "cpu/event=60/", NULL, "PMU 4/3c" },
	{ "cpu/event=0x3c,umask=0x1/", NULL, "PMU 4/13c" },
	{ "cpu/event=0xcd,umask=1,ldlat=0x20/", NULL, "PMU 4/1cd,20,0" },
	{ "cpu/mem-loads/pp", NULL, "PMU 4/1cd,3,0 pp" },
	{ "cpu/mem-loads,ldlat=30/ppp", NULL, "PMU 4/1cd,1e,0 ppp" },
	{ "cpu/event=0xc0,inv,cmask=1/u", NULL, "PMU 4/18000c0 u" },
	{ "cpu/event=0xc0,edge=1,any/:k", NULL, "PMU 4/2400c0 k" },
	{ "cpu/config=0x1b7,config1=0x3fbfc00001/", NULL, "PMU 4/1b7,3fbfc00001,0" },
	{ "cpu/offcore_rsp=0x3fbfc00001,event=0xb7,umask=1/", NULL, "PMU 4/1b7,3fbfc00001,0" },
	{ "cpu/config2=5/", NULL, "PMU 4/0,0,5" },
	{ "cpu/L1-dcache-load-misses/", NULL, "PMU 3/10000" },
	{ "cpu/r1a8/", NULL, "PMU 4/1a8" },
	{ "cpu/cycles,name=turns,period=1000/", NULL, "PMU 0/0" },
	{ "cpu/name=x,event=1/", NULL, "PMU 4/1" },
	{ "cpu//", NULL, "PMU 4/0" },
	{ "cpu/in_tx_cp,in_tx,event=0xff/", NULL, "PMU 4/3000000ff" },
	{ "power/energy-pkg/", NULL, "PMU 21/2" },
	{ "power/energy-ram/", NULL, "PMU 21/3" },
	{ "power/event=2/", NULL, "PMU 21/2" },
	{ "energy-pkg", NULL, "PMU 21/2" },
	{ "energy-ram:u", NULL, "PMU 21/3 u" },
	{ "msr/tsc/", NULL, "PMU 9/0" },
	{ "msr/tsc/u", NULL, "PMU 9/0 u" },
	{ "tsc", NULL, "PMU 9/0" },
	{ "smi:k", NULL, "PMU 9/4 k" },
	{ "msr/event=0xffffffffffffffff/", NULL, "PMU 9/ffffffffffffffff" },
	{ "c6-residency", NULL, "PMU 23/2" },
	{ "uncore_imc/data_reads/", NULL, "PMU 13/304" },
	{ "uncore_imc_0/data_reads/", NULL, "PMU 13/304" },
	{ "uncore_imc_1/cas_count_write/", NULL, "PMU 14/c04" },
	{ "imc/clockticks/", NULL, "PMU 13/0" },
	{ "imc_1/clockticks/", NULL, "PMU 14/0" },
	{ "uncore_*/clockticks/", NULL, "PMU 30/0" },
	{ "uncore_imc_[01]/event=4,umask=0xf,threshold=2/", NULL, "PMU 13/2000f04" },
	{ "data_reads", NULL, "PMU 13/304" },
	{ "cas_count_read", NULL, "PMU 13/304" },
	{ "uncore_cha/umask=0xffffffff,event=0x35/", NULL, "PMU 30/ffffff0000ff35" },
	{ "uncore_cha_0/filter_opc=0xfff/", NULL, "PMU 30/0,6007fe00,0" },
	{ "uncore_cha_0/mask3=5,filter_tid=0x1ff/", NULL, "PMU 30/0,1ff,11" },
	{ "hv_24x7/PM_CYC,domain=2,core=3/", NULL, "PMU 40/800030002" },
	{ "uprobe/retprobe,ref_ctr_offset=0x1234/", NULL, "PMU 8/123400000001" },
	{ "software/config=2/", NULL, "PMU 1/2" },
	{ "odd/plain/", NULL, "PMU 50/0,0,2" },
	{ "mem:0x1000", NULL, "breakpoint 1000/4:3" },
	{ "mem:4096:w", NULL, "breakpoint 1000/4:2" },
	{ "mem:0x1000:r", NULL, "breakpoint 1000/4:1" },
	{ "mem:0x1000:rw", NULL, "breakpoint 1000/4:3" },
	{ "mem:0x1000:wr", NULL, "breakpoint 1000/4:3" },
	{ "mem:0x1003:x", NULL, "breakpoint 1003/8:4" },
	{ "mem:0x1000/8:x", NULL, "breakpoint 1000/8:4" },
	{ "mem:0x1001/1", NULL, "breakpoint 1001/1:3" },
	{ "mem:0x1002/2:w", NULL, "breakpoint 1002/2:2" },
	{ "mem:0x1008/8:rw:u", NULL, "breakpoint 1008/8:3 u" },
	{ "mem:0x1000:wk", NULL, "breakpoint 1000/4:2 k" },
	{ "mem:0x1000::u", NULL, "breakpoint 1000/4:3 u" },
	{ "mem:jiffies", NULL, "breakpoint jiffies+0/4:3" },
	{ "mem:jiffies:w", NULL, "breakpoint jiffies+0/4:2" },
	{ "mem:jiffies_64/8:w:k", NULL, "breakpoint jiffies_64+0/8:2 k" },
	{ "mem:__per_cpu.x+0x10/2", NULL, "breakpoint __per_cpu.x+10/2:3" },
	{ "mem:counter", BINARY, "breakpoint /opt/bin/server:counter+0/4:3" },
	{ "mem:counter+8:w", BINARY, "breakpoint /opt/bin/server:counter+8/4:2" },
	{ "sched:sched_switch", NULL, "tracepoint sched|sched_switch" },
	{ "sched:sched_switch:k", NULL, "tracepoint sched|sched_switch k" },
	{ "sched:sched_wakeup:uk", NULL, "tracepoint sched|sched_wakeup uk" },
	{ "sched:*", NULL, "tracepoint sched|*" },
	{ "*:sched_*", NULL, "tracepoint *|sched_*" },
	{ "sched:sched_[a-s]*", NULL, "tracepoint sched|sched_[a-s]*" },
	{ "sched:sched_[w,s]*", NULL, "tracepoint sched|sched_[w,s]*" },
	{ "syscalls:sys_enter_openat", NULL, "tracepoint syscalls|sys_enter_openat" },
	{ "ext4:ext4_sync_file_enter", NULL, "tracepoint ext4|ext4_sync_file_enter" },
	{ "dummy:dummy_xmit", NULL, "tracepoint dummy|dummy_xmit" },
	{ "node:node_thing", NULL, "tracepoint node|node_thing" },
	{ "sched:sched_switch", BINARY, "tracepoint sched|sched_switch" },
	{ "vfs_read", NULL, "kernel function vfs_read" },
	{ "vfs_read+0x10", NULL, "kernel function vfs_read+0x10" },
	{ "vfs_read+16", NULL, "kernel function vfs_read+0x10" },
	{ "vfs_read%return", NULL, "kernel function vfs_read%return" },
	{ "vfs_*", NULL, "kernel function vfs_*" },
	{ "*_read", NULL, "kernel function *_read" },
	{ "tcp_[rs]*msg", NULL, "kernel function tcp_[rs]*msg" },
	{ "tcp_sendmsg:81", NULL, "kernel function tcp_sendmsg:81" },
	{ "tcp_sendmsg:0", NULL, "kernel function tcp_sendmsg" },
	{ "tcp_*%return", NULL, "kernel function tcp_*%return" },
	{ "__x64_sys_read", NULL, "kernel function __x64_sys_read" },
	{ "foo.isra.0", NULL, "kernel function foo.isra.0" },
	{ "foo.constprop.0+4", NULL, "kernel function foo.constprop.0+0x4" },
	{ "cyclse", NULL, "kernel function cyclse" },
	{ "cycles+4", NULL, "kernel function cycles+0x4" },
	{ "cycles:81", NULL, "kernel function cycles:81" },
	{ "ext4:ext4_sync_fs+0x10", NULL, "kernel function ext4!ext4_sync_fs+0x10" },
	{ "ext4:ext4_sync_fs%return", NULL, "kernel function ext4!ext4_sync_fs%return" },
	{ "malloc", BINARY, "user function /opt/bin/server:malloc" },
	{ "malloc%return", BINARY, "user function /opt/bin/server:malloc%return" },
	{ "malloc+0x4", BINARY, "user function /opt/bin/server:malloc+0x4" },
	{ "main:12", BINARY, "user function /opt/bin/server:main:12" },
	{ "std_*_x", BINARY, "user function /opt/bin/server:std_*_x" },
	{ "read*:7", BINARY, "user function /opt/bin/server:read*:7" },
	{ "/usr/bin/x:main", NULL, "user function /usr/bin/x:main" },
	{ "/usr/bin/x:main+0x4", NULL, "user function /usr/bin/x:main+0x4" },
	{ "/usr/bin/x:main%return", NULL, "user function /usr/bin/x:main%return" },
	{ "/usr/bin/x:main:12", NULL, "user function /usr/bin/x:main:12" },
	{ "/usr/bin/x:*", NULL, "user function /usr/bin/x:*" },
	{ "./server:handle", NULL, "user function ./server:handle" },
	{ "../a/b/server:handle_*", NULL, "user function ../a/b/server:handle_*" },
	{ "lib/x:malloc", NULL, "user function lib/x:malloc" },
	{ "sub/dir/prog:main", NULL, "user function sub/dir/prog:main" },
	{ "/opt/my app/x:main", NULL, "user function /opt/my app/x:main" },
	{ "/bin/sh:main", BINARY, "user function /bin/sh:main" },
	{ "main.(*T).m", BINARY, "user function /opt/bin/server:main.(*T).m" },
	{ "main.(*T).m-fm", BINARY, "user function /opt/bin/server:main.(*T).m-fm" },
	{ "net/http.(*conn).serve", BINARY, "user function /opt/bin/server:net/http.(*conn).serve" },
	{ "net/http.(*conn).serve%return", BINARY, "user function /opt/bin/server:net/http.(*conn).serve%return" },
	{ "net/http.Get:12", BINARY, "user function /opt/bin/server:net/http.Get:12" },
	{ "net/http.(*conn).serve+0x4", BINARY, "user function /opt/bin/server:net/http.(*conn).serve+0x4" },
	{ "example.com/a/b.F", BINARY, "user function /opt/bin/server:example.com/a/b.F" },
	{ "gopkg.in/yaml%2ev3.F%return", BINARY, "user function /opt/bin/server:gopkg.in/yaml%2ev3.F%return" },
	{ "main.Map[go.shape.int]", BINARY, "user function /opt/bin/server:main.Map[go.shape.int]" },
	{ "main.P[string,*main.T]", BINARY, "user function /opt/bin/server:main.P[string,*main.T]" },
	{ "main.F[net/url.URL,int]", BINARY, "user function /opt/bin/server:main.F[net/url.URL,int]" },
	{ "main.Map[go.shape.struct { X int; Y []int }]", BINARY,
	  "user function /opt/bin/server:main.Map[go.shape.struct { X int; Y []int }]" },
	{ "go.struct { io.Reader; io.WriterTo }.Read", BINARY,
	  "user function /opt/bin/server:go.struct { io.Reader; io.WriterTo }.Read" },
	{ "type:.eq.main.T", BINARY, "user function /opt/bin/server:type:.eq.main.T" },
	{ "type..eq.[2]interface {}", BINARY, "user function /opt/bin/server:type..eq.[2]interface {}" },
	{ "main.F[chan<- int]", BINARY, "user function /opt/bin/server:main.F[chan<- int]" },
	{ "ns::K::operator,(int, int)", BINARY, "user function /opt/bin/server:ns::K::operator,(int, int)" },
	{ "ns::K::operator/(ns::K)", BINARY, "user function /opt/bin/server:ns::K::operator/(ns::K)" },
	{ "ns::K::operator/", BINARY, "user function /opt/bin/server:ns::K::operator/" },
	{ "ns::K::operator new(unsigned long)", BINARY,
	  "user function /opt/bin/server:ns::K::operator new(unsigned long)" },
	{ "operator new", BINARY, "user function /opt/bin/server:operator new" },
	{ "r1::area", BINARY, "user function /opt/bin/server:r1::area" },
	{ "cycles::run", BINARY, "user function /opt/bin/server:cycles::run" },
	{ "cs::K::m(int)", BINARY, "user function /opt/bin/server:cs::K::m(int)" },
	{ "mem::copy", BINARY, "user function /opt/bin/server:mem::copy" },
	{ "sdt::note", BINARY, "user function /opt/bin/server:sdt::note" },
	{ "main::{{closure}}", BINARY, "user function /opt/bin/server:main::{{closure}}" },
	{ "main::{closure#0}%return", BINARY, "user function /opt/bin/server:main::{closure#0}%return" },
	{ "main::{lambda(int, char)#1}::operator()(int, char)", BINARY,
	  "user function /opt/bin/server:main::{lambda(int, char)#1}::operator()(int, char)" },
	{ "/usr/bin/x:net/http.(*conn).serve", NULL, "user function /usr/bin/x:net/http.(*conn).serve" },
	{ "/usr/bin/x:net/http.Get:12", NULL, "user function /usr/bin/x:net/http.Get:12" },
	{ "lib/x:main.F[net/url.URL]%return", NULL, "user function lib/x:main.F[net/url.URL]%return" },
	{ "/usr/bin/x:ns::K::operator/(ns::K)", NULL, "user function /usr/bin/x:ns::K::operator/(ns::K)" },
	{ "main.(*T).m,net/http.Get,main.P[a,b]", BINARY,
	  "user function /opt/bin/server:main.(*T).m; user function /opt/bin/server:net/http.Get; "
	  "user function /opt/bin/server:main.P[a,b]" },
	{ "{ns::operator,,ns::operator+}", BINARY,
	  "user function {0} /opt/bin/server:ns::operator,; user function {0} /opt/bin/server:ns::operator+" },
	{ "ns::{f,g}", BINARY, "user function /opt/bin/server:ns::f; user function /opt/bin/server:ns::g" },
	{ "sched:sched_switch,power/energy-pkg/,cpu/event=0x3c/", BINARY,
	  "tracepoint sched|sched_switch; PMU 21/2; PMU 4/3c" },
	{ "sdt_libc:setjmp", BINARY, "USDT /opt/bin/server:libc|setjmp" },
	{ "sdt_python:function__entry", BINARY, "USDT /opt/bin/server:python|function__entry" },
	{ "sdt:memory_heap_new", BINARY, "USDT /opt/bin/server:*|memory_heap_new" },
	{ "cycles,instructions", NULL, "hardware 0/0; hardware 0/1" },
	{ " cycles , instructions ", NULL, "hardware 0/0; hardware 0/1" },
	{ "{cycles,instructions}", NULL, "hardware {0} 0/0; hardware {0} 0/1" },
	{ "{cycles,instructions}:u", NULL, "hardware {0} 0/0 u; hardware {0} 0/1 u" },
	{ "{cycles:u,instructions}:k", NULL, "hardware {0} 0/0 uk; hardware {0} 0/1 k" },
	{ "{ cycles , cs },{ faults }", NULL,
	  "hardware {0} 0/0; software {0} 1/3; software {1} 1/2" },
	{ "{cycles,cs},faults,{dummy}:k", NULL,
	  "hardware {0} 0/0; software {0} 1/3; software 1/2; software {1} 1/9 k" },
	{ "cycles:{u,k}", NULL, "hardware 0/0 u; hardware 0/0 k" },
	{ "cpu/cycles/{u,k}", NULL, "PMU 0/0 u; PMU 0/0 k" },
	{ "{cycles:{u, k},instructions}:p", NULL,
	  "hardware {0} 0/0 up; hardware {0} 0/0 kp; hardware {0} 0/1 p" },
	{ "sched:{sched_switch,sched_wakeup}", NULL,
	  "tracepoint sched|sched_switch; tracepoint sched|sched_wakeup" },
	{ "cpu/event=1,umask=2/,cs", NULL, "PMU 4/201; software 1/3" },
	{ "{cpu/event=1,umask=2/,uncore_imc_0/data_reads/}", NULL,
	  "PMU {0} 4/201; PMU {0} 13/304" },
	{ "{power/energy-pkg/,power/energy-ram/}:k", NULL, "PMU {0} 21/2 k; PMU {0} 21/3 k" },
	{ "lib/x:a,lib/y:b", NULL, "user function lib/x:a; user function lib/y:b" },
	{ "/usr/bin/x:main,cycles,sched:sched_switch,vfs_read", NULL,
	  "user function /usr/bin/x:main; hardware 0/0; tracepoint sched|sched_switch; kernel "
	  "function vfs_read" },
	{ "sched:sched_[a,b],cs", NULL, "tracepoint sched|sched_[a,b]; software 1/3" },
	{ "mem:0x1000/4:w,mem:0x2000/8", NULL, "breakpoint 1000/4:2; breakpoint 2000/8:3" },
	{ "cycles,vfs_read%return,sched:sched_switch:k,r1a8", NULL,
	  "hardware 0/0; kernel function vfs_read%return; tracepoint sched|sched_switch k; PMU "
	  "4/1a8" },
	{ "{sched:sched_switch,cs}:u", NULL,
	  "tracepoint {0} sched|sched_switch u; software {0} 1/3 u" },
	{ "malloc:x", BINARY, "tracepoint malloc|x" },
	{ "mem:0xffffffff81000001:x", NULL, "breakpoint ffffffff81000001/8:4" },
	{ "vfs_read,mem:jiffies:w:k,{cs}", NULL,
	  "kernel function vfs_read; breakpoint jiffies+0/4:2 k; software {0} 1/3" },
	{ "/usr/bin/x:sdt_p:n", NULL, "USDT /usr/bin/x:p|n" },
	{ "/usr/bin/x:sdt:n", NULL, "USDT /usr/bin/x:*|n" },
	{ "cycles//", NULL, "hardware 0/0" },
	{ "cycles//u", NULL, "hardware 0/0 u" },
	{ "cycles//:u", NULL, "hardware 0/0 u" },
	{ "cycles//{u,k}", NULL, "hardware 0/0 u; hardware 0/0 k" },
	{ "{cycles//,cs/name=s/}:u", NULL, "hardware {0} 0/0 u; software {0} 1/3 u" },
	{ "cycles/name=x/,cs", NULL, "hardware 0/0; software 1/3" },
	{ "cs/name=switches/k", NULL, "software 1/3 k" },
	{ "r1a8//p", NULL, "PMU 4/1a8 p" },
	{ "L1-dcache-loads//u", NULL, "hardware 3/0 u" },
	{ "sched:sched_switch//k", NULL, "tracepoint sched|sched_switch k" },
	{ "0:1", NULL, "hardware 0/1" },
	{ "1:2:u", NULL, "software 1/2 u" },
	{ "3:0x10002", NULL, "hardware 3/10002" },
	{ "4:0x1a8:up", NULL, "PMU 4/1a8 up" },
};

static void every_good_event(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		struct event_context ctx = { .binary = good[i].binary, .pmus = PMUS };
		struct events events = {};
		struct complaint c = {};
		char *is;

		if (events__parse(&events, &ctx, good[i].text, &c))
			fail_msg("'%s': %s (at %zu)", good[i].text, c.what, c.at);
		is = described(&events);
		if (strcmp(is, good[i].is))
			fail_msg("'%s' is '%s' instead of '%s'", good[i].text, is, good[i].is);
		free(is);
		events__free(&events);
	}
}

/* An event that names no PMU means the same without sysfs. */
static void places(void **state)
{
	static const struct {
		const char *text, *name[3];
		size_t at[3], len[3], modifiers[3];     /* 0: none */
	} cases[] = {
		{ "cycles", { "cycles" }, { 0 }, { 6 }, { 0 } },
		{ "  cycles:u ,  cs", { "cycles:u", "cs" }, { 2, 14 }, { 8, 2 }, { 9 } },
		{ "{cycles,cs}:u", { "cycles:u", "cs:u" }, { 1, 8 }, { 6, 2 }, { 12, 12 } },
		{ "{cycles:u,r1}:k", { "cycles:uk", "r1:k" }, { 1, 10 }, { 8, 2 }, { 8, 14 } },
		{ "{cycles:u,cs}:u", { "cycles:u", "cs:u" }, { 1, 10 }, { 8, 2 }, { 8, 14 } },
		{ "cycles:{u,k}", { "cycles:u", "cycles:k" }, { 0, 0 }, { 12, 12 }, { 8, 10 } },
		{ "cs,cs:{ u , k }", { "cs", "cs:u", "cs:k" }, { 0, 3, 3 }, { 2, 12, 12 },
		  { 0, 8, 12 } },
		{ "{msr/tsc/}:u", { "msr/tsc/u" }, { 1 }, { 8 }, { 11 } },
		{ "{mem:0x10:rw}:k", { "mem:0x10:rw:k" }, { 1 }, { 11 }, { 14 } },
		{ "sched:{a,bc}", { "sched:a", "sched:bc" }, { 0, 0 }, { 12, 12 }, { 0 } },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_context ctx = { .pmus = PMUS };
		struct events events = {};
		struct complaint c;
		int err = events__parse(&events, &ctx, cases[i].text, &c);

		assert_int_equal(err, 0);
		for (k = 0; k < events.n; k++) {
			assert_string_equal(events.event[k].name, cases[i].name[k]);
			assert_int_equal(events.event[k].at, cases[i].at[k]);
			assert_int_equal(events.event[k].len, cases[i].len[k]);
			assert_int_equal(events.event[k].modifiers.at, cases[i].modifiers[k]);
		}
		events__free(&events);
	}
}

/* Sampling terms between slashes are accepted if events are sampled, and refused otherwise. */
static void terms_of_samples(void **state)
{
	static const struct {
		const char *text, *name, *label;
		struct event_sampling sampling;
		size_t modifiers;
	} cases[] = {
		{ "cpu-clock/max-stack=2/", "cpu-clock", NULL, { .max_stack = 2 }, 0 },
		{ "cs/period=100,call-graph=no/u", "cs:u", NULL, { .every = 100, .innermost = true }, 28 },
		{ "cs/name=x,freq=0x10/:k", "cs:k", "x", { .hz = 16 }, 21 },
		{ "cs/freq=16,name=x/", "cs", "x", { .hz = 16 }, 0 },
		{ "sched:sched_switch/max-stack=9,period=3/",
		  "sched:sched_switch",
		  NULL,
		  { .max_stack = 9, .every = 3 },
		  0 },
		{ "cpu/freq=99,event=0x3c,max-stack=5,umask=1/p",
		  "cpu/event=0x3c,umask=1/p",
		  NULL,
		  { .hz = 99, .max_stack = 5 },
		  43 },
		{ "cycles//u", "cycles:u", NULL, {}, 8 },
		{ "mem:0x1000/4:w", "mem:0x1000/4:w", NULL, {}, 0 },
	};
	static const struct {
		const char *text;
		size_t at, len;
		const char *what;
	} wrong[] = {
		{ "cs,cpu-clock/freq=1,max-stack=0/", 30, 1, "a number from 1 to 65535" },
		{ "cs/max-stack=/", 13, 1, "a number from 1 to 65535" },
		{ "cs/freq=1,period=2/", 10, 8, "freq= and period= cannot be combined: give one" },
		{ "cs/call-graph=no,max-stack=2/", 17, 11, "max-stack= and call-graph=no cannot be combined" },
		{ "cs/call-graph=dwarf/", 14, 5, "call-graph=no" },
		{ "cs/max-stack=2,foo=1/", 15, 5, "no term other than name=TEXT" },
		{ "cs/max-stack=2/q", 15, 1, "unknown modifier 'q'" },
		{ "cpu/max-stack=2,umask=0x100/", 22, 5, "0x100 is too large for 'umask', at most 0xff" },
	};
	struct event_context ctx = { .pmus = PMUS, .samples = true };
	struct complaint c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct events events = {};
		const struct event *e;

		if (events__parse(&events, &ctx, cases[i].text, &c))
			fail_msg("'%s': %s", cases[i].text, c.what);
		e = &events.event[0];
		assert_int_equal(events.n, 1);
		assert_string_equal(e->name, cases[i].name);
		assert_string_equal(e->label ?: "", cases[i].label ?: "");
		assert_memory_equal(&e->sampling, &cases[i].sampling, sizeof(e->sampling));
		assert_int_equal(e->len, strlen(cases[i].text));
		assert_int_equal(e->modifiers.at, cases[i].modifiers);
		events__free(&events);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct events events = {};

		c = (struct complaint){};
		assert_int_equal(events__parse(&events, &ctx, wrong[i].text, &c), -EINVAL);
		if (c.at != wrong[i].at || c.len != wrong[i].len || !strstr(c.what, wrong[i].what))
			fail_msg("'%s': '%s' at %zu+%zu", wrong[i].text, c.what, c.at, c.len);
		events__free(&events);
	}
	ctx.samples = false;
	for (i = 0; i < 6; i++) {
		struct events events = {};

		assert_int_equal(events__parse(&events, &ctx, cases[i].text, &c), -EINVAL);
		events__free(&events);
	}
}

static void groups_are_numbered_on(void **state)
{
	struct event_context ctx = { .pmus = PMUS };
	struct events events = {};
	struct complaint c;

	(void)state;
	assert_int_equal(events__parse(&events, &ctx, "{cs,faults},cycles", &c), 0);
	assert_int_equal(events__parse(&events, &ctx, "{cs},{faults}", &c), 0);
	assert_int_equal(events.n, 5);
	assert_int_equal(events.event[0].group, 0);
	assert_int_equal(events.event[1].group, 0);
	assert_int_equal(events.event[2].group, -1);
	assert_int_equal(events.event[3].group, 1);
	assert_int_equal(events.event[4].group, 2);
	/* A failure leaves everything unchanged. */
	assert_int_equal(events__parse(&events, &ctx, "cs,{faults,cs:x}", &c), -EINVAL);
	assert_int_equal(events.n, 5);
	assert_string_equal(events.event[4].name, "faults");
	events__free(&events);
	assert_null(events.event);
}

/* --- invalid events ------------------------------------------------------------------------- */

static const struct {
	const char *text, *binary;
	size_t at, len;
	const char *what;       /* a part of the message */
} bad[] = {
	{ "", NULL, 0, 0, "no event is given" },
	{ "   ", NULL, 3, 0, "no event is given" },
	{ ",", NULL, 0, 1, "an event is missing before the ','" },
	{ "cycles,", NULL, 7, 0, "an event is missing at the end" },
	{ ",cycles", NULL, 0, 1, "an event is missing before the ','" },
	{ "cycles,,cs", NULL, 7, 1, "an event is missing before the ','" },
	{ "cycles, ,cs", NULL, 8, 1, "an event is missing before the ','" },
	{ "{", NULL, 1, 0, "an event is missing at the end" },
	{ "{}", NULL, 1, 1, "an event is missing before the '}'" },
	{ "}", NULL, 0, 1, "an event is missing before the '}'" },
	{ "{cycles", NULL, 0, 1, "this '{' is never closed" },
	{ "{cycles,cs", NULL, 0, 1, "this '{' is never closed" },
	{ "{cycles,}", NULL, 8, 1, "an event is missing before the '}'" },
	{ "{,cycles}", NULL, 1, 1, "an event is missing before the ','" },
	{ "cycles}", NULL, 6, 1, "unmatched '}'" },
	{ "cs,cycles}", NULL, 9, 1, "unmatched '}'" },
	{ "{{cycles}}", NULL, 1, 1, "groups cannot be nested" },
	{ "{cs,{cycles}}", NULL, 4, 1, "groups cannot be nested" },
	{ "{cycles}x", NULL, 8, 1, "expected a comma or the end after a group" },
	{ "{cycles}{cs}", NULL, 8, 1, "expected a comma or the end after a group" },
	{ "{cycles} cs", NULL, 9, 1, "expected a comma or the end after a group" },
	{ "{cycles}:", NULL, 8, 1, "modifiers are missing after the colon" },
	{ "{cycles}:z", NULL, 9, 1, "unknown modifier 'z'" },
	{ "{cycles,cs}:p", NULL, 12, 1, "the modifier 'p' does not apply to a software event" },
	{ "{cycles:u,cs}:uu", NULL, 15, 1, "the modifier 'u' is given twice" },
	{ "{cycles,vfs_read}:u", NULL, 18, 1,
	  "the modifier 'u' does not apply to a kernel function event" },
	{ "cycles:", NULL, 6, 1, "modifiers are missing after the colon" },
	{ "cycles:x", NULL, 7, 1, "unknown modifier 'x'" },
	{ "cycles:uu", NULL, 8, 1, "the modifier 'u' is given twice" },
	{ "cycles:uku", NULL, 9, 1, "the modifier 'u' is given twice" },
	{ "cycles:pppp", NULL, 10, 1, "ppp is the highest precision" },
	{ "cycles:u:k", NULL, 8, 1, "unknown modifier ':'" },
	{ "cycles:P", NULL, 7, 1, "perf's modifier 'P' is not supported" },
	{ "cycles:uD", NULL, 8, 1, "perf's modifier 'D' is not supported" },
	{ "cycles:!", NULL, 7, 1, "unknown modifier '!'" },
	{ "cs:p", NULL, 3, 1, "the modifier 'p' does not apply to a software event" },
	{ "cs:h", NULL, 3, 1, "the modifier 'h' does not apply to a software event" },
	{ "cpu-clock:u", NULL, 10, 1, "does not split clocks" },
	{ "task-clock:uk", NULL, 11, 2, "does not split clocks" },
	{ "cpu-clock:G", NULL, 10, 1, "the modifier 'G' does not apply to a software event" },
	{ "page-faults:uH", NULL, 13, 1, "the modifier 'H' does not apply to a software event" },
	{ "sched:sched_switch:p", NULL, 19, 1,
	  "the modifier 'p' does not apply to a tracepoint event" },
	{ "sched:sched_switch:", NULL, 18, 1, "modifiers are missing after the colon" },
	{ "sched:sched_switch:u", NULL, 19, 1, "tracepoints are in the kernel, never in user mode" },
	{ "sched:sched_switch:kz", NULL, 20, 1, "unknown modifier 'z'" },
	{ "mem:0x1000:w:p", NULL, 13, 1, "the modifier 'p' does not apply to a breakpoint event" },
	{ "cycles:{u,x}", NULL, 10, 1, "unknown modifier 'x'" },
	{ "cycles:{u,}", NULL, 10, 1, "an alternative is missing here" },
	{ "cycles:{,u}", NULL, 8, 1, "an alternative is missing here" },
	{ "cycles:{}", NULL, 8, 1, "an alternative is missing here" },
	{ "cycles:{u,k", NULL, 7, 1, "this '{' is never closed" },
	{ "cycles:{u,k}x", NULL, 12, 1, "nothing can follow the alternatives in braces" },
	{ "cycles:{u,{k}}", NULL, 10, 1, "unknown modifier '{'" },
	{ "{cycles:{u,zz}}", NULL, 11, 1, "unknown modifier 'z'" },
	{ "cpu-migratons", NULL, 0, 13, "unknown counter 'cpu-migratons'" },
	{ "vfs-read", NULL, 0, 8, "unknown counter 'vfs-read'" },
	{ "no-such:u", NULL, 0, 7, "unknown counter 'no-such'" },
	{ "L1-dcache-load-mises", NULL, 15, 5,
	  "expected an operation (loads, stores, prefetches) or a result (refs, misses)" },
	{ "L1-dcache-", NULL, 10, 0, "expected an operation (loads, stores, prefetches) or a result (refs, misses)" },
	{ "L1-dcache-loads-stores", NULL, 16, 6, "a cache event takes only one operation" },
	{ "L1-dcache-misses-refs", NULL, 17, 4, "a cache event takes only one result" },
	{ "L1-dcache-loads-misses-x", NULL, 23, 1,
	  "expected an operation (loads, stores, prefetches) or a result (refs, misses)" },
	{ "iTLB-stores", NULL, 0, 11, "the instruction TLB has no stores" },
	{ "L1-icache-store-misses", NULL, 0, 22, "the L1 instruction cache has no stores" },
	{ "branch-stores", NULL, 0, 13, "the branch predictor has no stores" },
	{ "r11112222333344445", NULL, 1, 17, "a raw event has at most 16 hexadecimal digits" },
	{ "r11112222333344445:u", NULL, 1, 17, "a raw event has at most 16 hexadecimal digits" },
	{ "cycles instructions", NULL, 6, 1, "an event cannot contain blanks" },
	{ "cycles\tcs", NULL, 6, 1, "an event cannot contain blanks" },
	{ "vfs_read +4", NULL, 8, 1, "an event cannot contain blanks" },
	{ "cpu/cycles", NULL, 3, 1, "a closing '/' is missing" },
	{ "cpu/event=1", NULL, 3, 1, "a closing '/' is missing" },
	{ "cpu/event=1,umask=2", NULL, 3, 1, "a closing '/' is missing" },
	{ "cpux/cycles/", NULL, 0, 4, "this machine has no PMU 'cpux'" },
	{ "foo/bar/", NULL, 0, 3, "this machine has no PMU 'foo'" },
	{ "foo/x,y/:u", NULL, 0, 3, "this machine has no PMU 'foo'" },
	{ "cpu/bogus/", NULL, 4, 5, "the PMU cpu has no event or field 'bogus'" },
	{ "cpu/event=1,bogus=2/", NULL, 12, 5, "the PMU cpu has no event or field 'bogus'" },
	{ "cpu/event=0x100/", NULL, 10, 5,
	  "0x100 is too large for 'event', at most 0xff" },
	{ "cpu/event=256/", NULL, 10, 3, "0x100 is too large for 'event', at most 0xff" },
	{ "cpu/inv=2/", NULL, 8, 1, "0x2 is too large for 'inv', at most 0x1" },
	{ "cpu/umask=-1/", NULL, 10, 2, "'umask' needs a number of at most 64 bits" },
	{ "cpu/umask=x/", NULL, 10, 1, "'umask' needs a number of at most 64 bits" },
	{ "cpu/umask=/", NULL, 9, 1, "a value is missing after the '='" },
	{ "cpu/umask=0x/", NULL, 10, 2, "'umask' needs a number of at most 64 bits" },
	{ "cpu/umask=1K/", NULL, 10, 2, "'umask' needs a number of at most 64 bits" },
	{ "cpu/umask=0x10000000000000000/", NULL, 10, 19,
	  "'umask' needs a number of at most 64 bits" },
	{ "cpu/=1/", NULL, 4, 1, "a term name is missing here" },
	{ "cpu/,/", NULL, 4, 1, "a term is missing here" },
	{ "cpu/event=1,/", NULL, 12, 1, "a term is missing here" },
	{ "cpu/,event=1/", NULL, 4, 1, "a term is missing here" },
	{ "cpu/event=1,event=2/", NULL, 12, 7, "'event' is given twice" },
	{ "cpu/cycles,instructions/", NULL, 11, 12, "this is a second event, after 'cycles'" },
	{ "cpu/cycles,r1a8/", NULL, 11, 4, "this is a second event, after 'cycles'" },
	{ "cpu/mem-loads,mem-stores/", NULL, 14, 10, "this is a second event, after 'mem-loads'" },
	{ "cpu/slots=1/", NULL, 9, 2, "'slots' is an event and takes no value" },
	{ "cpu/cycles=1/", NULL, 4, 6, "the PMU cpu has no event or field 'cycles'" },
	{ "cpu/cycles,umask=1/", NULL, 11, 7,
	  "'cycles' is a generic event and has no fields" },
	{ "cpu/ev;ent=1/", NULL, 6, 1, "';' is not allowed in term names" },
	{ "cpu/ event=1/", NULL, 4, 1, "an event cannot contain blanks" },
	{ "cpu/percore/", NULL, 4, 7, "perf's term 'percore' is not supported" },
	{ "cpu/event=1,freq=100/", NULL, 12, 4, "perf's term 'freq' is not supported" },
	{ "cpu/call-graph=fp/", NULL, 4, 10, "perf's term 'call-graph' is not supported" },
	{ "cpu/period/", NULL, 4, 6, "'period' needs a value: period=..." },
	{ "cpu/config/", NULL, 4, 6, "'config' needs a value: config=..." },
	{ "cpu/config4=1/", NULL, 4, 7, "the PMU cpu has no event or field 'config4'" },
	{ "cpu/name/", NULL, 4, 4, "'name' needs a value: name=..." },
	{ "cpu/event=1/z", NULL, 12, 1, "unknown modifier 'z'" },
	{ "cpu/event=1/:", NULL, 12, 1, "modifiers are missing after the colon" },
	{ "cpu/../type/", NULL, 7, 1, "unknown modifier 't'" },
	{ "cpu/event=1/uu", NULL, 13, 1, "the modifier 'u' is given twice" },
	{ "uncore_imc/nothing/", NULL, 11, 7,
	  "the PMU uncore_imc_0 has no event or field 'nothing'" },
	{ "uncore_cha_0/umask=0x100000000/", NULL, 19, 11,
	  "0x100000000 is too large for 'umask', at most 0xffffffff" },
	{ "hv_24x7/PM_CYC/", NULL, 8, 6, "the event 'PM_CYC' needs a value for 'domain'" },
	{ "hv_24x7/PM_CYC,domain=2/", NULL, 8, 6, "the event 'PM_CYC' needs a value for 'core'" },
	{ "odd/beyond/", NULL, 4, 6, "the PMU odd has no valid format for 'beyond'" },
	{ "odd/backwards=1/", NULL, 4, 11, "the PMU odd has no valid format for 'backwards'" },
	{ "odd/empty/", NULL, 4, 5, "the PMU odd has no valid format for 'empty'" },
	{ "odd/other/", NULL, 4, 5, "the PMU odd has no valid format for 'other'" },
	{ "odd/fine=4/", NULL, 9, 1, "0x4 is too large for 'fine', at most 0x3" },
	{ "odd/loop/", NULL, 4, 4,
	  "the PMU odd describes its event 'loop' as 'event=1,nothing=2', which is not valid" },
	{ "odd/garbage/", NULL, 4, 7,
	  "the PMU odd describes its event 'garbage' as 'fine=1,,=x', which is not valid" },
	{ "odd/large/", NULL, 4, 5,
	  "the PMU odd describes its event 'large' as 'fine=9', which is not valid" },
	{ "clockticks", NULL, 0, 10, "'clockticks' is an event of several PMUs" },
	{ "msr/cycles/", NULL, 4, 6, "the PMU msr has no event or field 'cycles'" },
	{ "msr/r10/", NULL, 4, 3, "the PMU msr has no event or field 'r10'" },
	{ "mem:", NULL, 4, 0, "expected an address or a symbol" },
	{ "mem:/4", NULL, 4, 1, "expected an address or a symbol" },
	{ "mem::w", NULL, 4, 1, "expected an address or a symbol" },
	{ "mem:0x", NULL, 4, 2, "this is neither an address nor a symbol" },
	{ "mem:0x12g", NULL, 4, 5, "this is neither an address nor a symbol" },
	{ "mem:12ab", NULL, 4, 4, "this is neither an address nor a symbol" },
	{ "mem:0x10000000000000000", NULL, 4, 19, "addresses have at most 64 bits" },
	{ "mem:0x1000/", NULL, 11, 0, "the length must be 1, 2, 4 or 8" },
	{ "mem:0x1000/0", NULL, 11, 1, "the length must be 1, 2, 4 or 8" },
	{ "mem:0x1000/3", NULL, 11, 1, "the length must be 1, 2, 4 or 8" },
	{ "mem:0x1000/16", NULL, 11, 2, "the length must be 1, 2, 4 or 8" },
	{ "mem:0x1000/4/4", NULL, 12, 1, "only access and modifiers can follow" },
	{ "mem:0x1000:", NULL, 10, 1, "expected r, w or x after the colon" },
	{ "mem:0x1000:z", NULL, 11, 1, "unknown access 'z'" },
	{ "mem:0x1000:rr", NULL, 12, 1, "'r' is given twice" },
	{ "mem:0x1000:rx", NULL, 0, 13,
	  "a breakpoint watches either accesses (r, w) or execution (x)" },
	{ "mem:0x1000:rwx", NULL, 0, 14,
	  "a breakpoint watches either accesses (r, w) or execution (x)" },
	{ "mem:0x1000/4:x", NULL, 11, 1, "an execution breakpoint needs the length 8" },
	{ "mem:0x1001", NULL, 4, 6, "the address is not a multiple of the length, 4" },
	{ "mem:0x1004/8", NULL, 4, 6, "the address is not a multiple of the length, 8" },
	{ "mem:0x1000:w:", NULL, 12, 1, "modifiers are missing after the colon" },
	{ "mem:0x1000:w:x", NULL, 13, 1, "unknown modifier 'x'" },
	{ "mem:0x1000:wz", NULL, 12, 1, "unknown access 'z'" },
	{ "mem:a-b", NULL, 5, 1, "'-' is not allowed in symbol names" },
	{ "mem:+3", NULL, 4, 1, "a symbol is missing before the '+'" },
	{ "mem:x+", NULL, 6, 0, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "mem:x+y", NULL, 6, 1, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "vfs_read+", NULL, 9, 0, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "vfs_read+z", NULL, 9, 1, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "vfs_read+0x", NULL, 9, 2, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "vfs_read+4K", NULL, 9, 2, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "vfs_read+4294967296", NULL, 9, 10, "the number is too large for a function" },
	{ "vfs_read%", NULL, 8, 1, "only %return can follow a '%'" },
	{ "vfs_read%ret", NULL, 8, 4, "only %return can follow a '%'" },
	{ "vfs_read%returns", NULL, 8, 8, "only %return can follow a '%'" },
	{ "vfs_read%return+4", NULL, 8, 9, "only %return can follow a '%'" },
	{ "vfs_read+4%return", NULL, 8, 9, "a return takes no offset or line" },
	{ "vfs_read:12%return", NULL, 8, 10, "a return takes no offset or line" },
	{ "vfs_read:12:13", NULL, 9, 5, "a line number must follow the function" },
	{ "vfs_read:12+4", NULL, 9, 4, "a line number must follow the function" },
	{ "vfs_read@file.c", NULL, 8, 7, "a source file cannot follow a kernel function" },
	{ "vfs_read@file.c:12", NULL, 8, 7, "a source file cannot follow a kernel function" },
	{ "foo;bar", NULL, 3, 1, "';' is not allowed in function names" },
	{ "foo(bar)", NULL, 3, 1, "'(' is not allowed in function names" },
	{ "foo!", NULL, 3, 1, "'!' is not allowed in function names" },
	{ "9lives", NULL, 0, 6, "a function name cannot begin with a digit" },
	{ "9lives+4", NULL, 0, 6, "a function name cannot begin with a digit" },
	{ "%return", NULL, 0, 1, "a function name is missing here" },
	{ "+4", NULL, 0, 1, "a function name is missing here" },
	{ "ext4:+4", NULL, 5, 1, "a function name is missing here" },
	{ "ext4:9lives+4", NULL, 5, 8, "a line number must follow the function" },
	{ "m*d:f+4", NULL, 1, 1, "'*' is not allowed in function names" },
	{ "f[a", NULL, 1, 1, "this '[' is never closed" },
	{ "sched:sched_[a", NULL, 12, 1, "this '[' is never closed" },
	{ "sched:", NULL, 6, 0, "a tracepoint's name is missing" },
	{ "ca\xc3\xa9", NULL, 2, 1, "is not allowed in function names" },
	{ "cycles,foo bar", NULL, 10, 1, "an event cannot contain blanks" },
	{ "cs,vfs_read+z", NULL, 12, 1, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "cs,{faults,cpu/bogus/}:k", NULL, 15, 5,
	  "the PMU cpu has no event or field 'bogus'" },
	{ "malloc+z", BINARY, 7, 1, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "/usr/bin/x:main+z", NULL, 16, 1, "an offset in bytes (12 or 0xc) must follow the '+'" },
	{ "/usr/bin/x:", NULL, 11, 0, "a function name is missing here" },
	{ "cs,sched:{a,bc}:k,cs", NULL, 15, 2, "nothing can follow the alternatives in braces" },
	{ "mem:0xffffffff81000000/1:x", NULL, 23, 1, "an execution breakpoint needs the length 8" },
	{ "cycles:k,cpu/event=0x1ff/u", NULL, 19, 5,
	  "0x1ff is too large for 'event', at most 0xff" },
	{ "{cycles:u,cpu/umask=x/}:k", NULL, 20, 1, "'umask' needs a number of at most 64 bits" },
	{ "mem:jiffies/4:q", NULL, 14, 1, "unknown access 'q'" },
	{ "cpu/event=1/,", NULL, 13, 0, "an event is missing at the end" },
	{ "cycles//z", NULL, 8, 1, "unknown modifier 'z'" },
	{ "cs,cycles//uz", NULL, 12, 1, "unknown modifier 'z'" },
	{ "cs//p", NULL, 4, 1, "the modifier 'p' does not apply to a software event" },
	{ "cycles/x=1/", NULL, 7, 3, "'cycles' takes no term other than name=TEXT" },
	{ "cs,cycles/name=/", NULL, 15, 0, "a value is missing after the '='" },
	{ "cs/name=a,b/", NULL, 8, 3, "a name cannot contain a comma" },
	{ "2:17", NULL, 0, 1, "numeric events have the types" },
	{ "cs,4:0x1a8:z", NULL, 11, 1, "unknown modifier 'z'" },
	{ "1:2:p", NULL, 4, 1, "the modifier 'p' does not apply to a software event" },
};

static void every_bad_event(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct event_context ctx = { .binary = bad[i].binary, .pmus = PMUS };
		struct events events = {};
		struct complaint c = { .at = 999 };
		int err = events__parse(&events, &ctx, bad[i].text, &c);

		if (err != -EINVAL)
			fail_msg("'%s' gives %d", bad[i].text, err);
		if (c.at != bad[i].at || c.len != bad[i].len || !strstr(c.what, bad[i].what))
			fail_msg("'%s': '%s' at %zu+%zu instead of '%s' at %zu+%zu", bad[i].text,
				 c.what, c.at, c.len, bad[i].what, bad[i].at, bad[i].len);
		assert_int_equal(events.n, 0);
		events__free(&events);
	}
}

static void hints(void **state)
{
	static const struct {
		const char *text, *hint;
	} cases[] = {
		{ "cpu-migratons", "cpu-migrations" },
		{ "task-clok", "task-clock" },
		{ "branch-missess:u", "did you mean 'misses'?" },
		{ "contxt-switches", "context-switches" },
		{ "energy-pgk", "energy-pkg?" },
		{ "L1-dcache-load-mises", "misses" },
		{ "LLC-laods", "loads" },
		{ "cpuu/cycles/", "did you mean cpu?" },
		{ "cpu/evnt=1/", "did you mean event?" },
		{ "cpu/instrucions/", "did you mean instructions?" },
		{ "power/energy/", "fields: event; events: energy-pkg, energy-ram" },
		{ "hv_24x7/PM_CYC/", "hv_24x7/PM_CYC,domain=NUMBER/" },
		{ "clockticks", "write uncore_cha_0/clockticks/ or uncore_imc_0/clockticks/" },
		{ "cycles:q", "u (user mode)" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_context ctx = { .pmus = PMUS };
		struct events events = {};
		struct complaint c = {};

		assert_int_equal(events__parse(&events, &ctx, cases[i].text, &c), -EINVAL);
		if (!strstr(c.hint, cases[i].hint))
			fail_msg("'%s': '%s' instead of '%s'", cases[i].text, c.hint,
				 cases[i].hint);
		events__free(&events);
	}
}

/* Any text gets an answer, with the caret within the text and without a memory leak. */
static void random_texts(void **state)
{
	static const char *const parts[] = {
		"cycles", "cs", "cpu", "msr/tsc/", "/", ",", ":", "{", "}", "[", "]", "u", "k", "p",
		"mem:", "0x10", "4", "+", "%return", "*", " ", "=", "sched:", "vfs_read", "event",
		"L1-dcache", "-", "loads", "r1f", "_", ".", "@", "sdt_", "\xc3\xa9", "\x01", "?",
		"/bin/sh:", "12345678901234567890", "energy-pkg", "uncore_imc/", "name=",
		"config1=", "max-stack=", "freq=", "call-graph=no",
	};
	struct random r = { 31 };
	struct complaint c;
	char text[256];
	size_t n, i;
	u32 k;

	(void)state;
	for (k = 0; k < 50000; k++) {
		struct event_context ctx = { .pmus = PMUS, .binary = k % 3 ? NULL : BINARY, .samples = k % 2 };
		struct events events = {};
		int err;

		text[0] = 0;
		n = 1 + random__below(&r, 9);
		for (i = 0; i < n; i++)
			strcat(text, parts[random__below(&r, ARRAY_SIZE(parts))]);
		if (!random__below(&r, 8))
			random__hostile(&r, text, sizeof(text));
		memset(&c, 0, sizeof(c));
		err = events__parse(&events, &ctx, text, &c);
		if (err && (err != -EINVAL || !c.what[0] || c.at > strlen(text) ||
			    c.len > strlen(text) - c.at))
			fail_msg("'%s': %d, '%s' at %zu+%zu", text, err, c.what, c.at, c.len);
		if (!err && !events.n)
			fail_msg("'%s' is no event", text);
		events__free(&events);
	}
}

/* --- what exists ---------------------------------------------------------------------------- */

static void software_sites(void **state)
{
	struct event_context ctx = { .pmus = PMUS };
	struct events events = {};
	struct event_sites sites = {};
	struct complaint c;
	size_t which;

	(void)state;
	assert_int_equal(events__parse(&events, &ctx, "task-clock,cs:u,duration_time,mem:0x1000:w",
				       &c), 0);
	assert_int_equal(events__resolve(&sites, &events, &ctx, &c, &which), 0);
	assert_int_equal(sites.n, 4);
	assert_string_equal(sites.site[0].name, "task-clock");
	assert_true(sites.site[0].is_time);
	assert_true(sites.site[1].attr.exclude_kernel);
	assert_int_equal(sites.site[0].attr.size, sizeof(struct perf_event_attr));
	assert_ptr_equal(sites.site[0].event, &events.event[0]);
	assert_false(sites.site[1].is_time);
	assert_int_equal(sites.site[1].syscall, -1);
	assert_true(sites.site[2].is_time && sites.site[2].is_duration);
	assert_false(sites.site[0].is_duration);
	assert_int_equal(sites.site[3].attr.bp_addr, 0x1000);
	assert_true(sites.site[3].scale == 1);
	event_sites__free(&sites);
	assert_null(sites.site);
	events__free(&events);
}

/* A failed resolve says which event it was, and adds nothing. */
static void one_that_cannot_be_resolved(void **state)
{
	struct event_context ctx = { .pmus = PMUS };
	struct events events = {};
	struct event_sites sites = {};
	struct complaint c = {};
	size_t which = 99;

	(void)state;
	assert_int_equal(events__parse(&events, &ctx, "cs", &c), 0);
	assert_int_equal(events__resolve(&sites, &events, &ctx, &c, &which), 0);
	assert_int_equal(events__parse(&events, &ctx, "faults,mem:no_such_symbol_", &c), 0);
	assert_true(events__resolve(&sites, &events, &ctx, &c, &which) < 0);
	assert_int_equal(which, 2);
	assert_int_equal(c.at, 7 + 4);
	assert_int_equal(c.len, strlen("no_such_symbol_"));
	assert_int_equal(sites.n, 1);
	event_sites__free(&sites);
	events__free(&events);
}

/* --- perf's own answers --------------------------------------------------------------------- */

struct recorded {
	u64 type, config, config1, config2, bp_type, user, kernel, hv, guest, host, precise;
};

/* Reads a "  NAME   VALUE" line of a perf_event_attr as perf prints it. */
static void read_member(struct recorded *r, char *line)
{
	const struct {
		const char *name;
		u64 *value;
	} members[] = {
		{ "type", &r->type },           { "config", &r->config },
		{ "bp_type", &r->bp_type },     { "precise_ip", &r->precise },
		{ "exclude_user", &r->user },   { "exclude_kernel", &r->kernel },
		{ "exclude_hv", &r->hv },       { "exclude_guest", &r->guest },
		{ "exclude_host", &r->host },   { "{ bp_addr, config1 }", &r->config1 },
		{ "{ bp_len, config2 }", &r->config2 },
	};
	char *value = strrchr(line, ' ') + 1, *end;
	size_t i;

	for (end = value; end > line && end[-1] == ' '; end--)
		;
	*end = 0;
	for (i = 0; i < ARRAY_SIZE(members); i++)
		if (!strcmp(members[i].name, line + 2))
			break;
	assert_true(i < ARRAY_SIZE(members));
	*members[i].value = strtoull(value, NULL, 0);
}

static void compare(const char *name, const struct recorded *r)
{
	struct event_context ctx = { .pmus = PMUS };
	struct events events = {};
	struct complaint c;
	const struct event *e;
	struct recorded is;

	if (events__parse(&events, &ctx, name, &c))
		fail_msg("'%s': %s", name, c.what);
	assert_int_equal(events.n, 1);
	e = &events.event[0];
	is = (struct recorded){
		e->attr.type, e->attr.config, e->attr.config1, e->attr.config2,
		e->attr.bp_type, e->attr.exclude_user, e->attr.exclude_kernel, e->attr.exclude_hv,
		/* perf excludes guests by default; here everything counts. */
		e->modifiers.guest || e->modifiers.host ? e->attr.exclude_guest : r->guest,
		e->attr.exclude_host, e->attr.precise_ip,
	};
	if (memcmp(&is, r, sizeof(is)))
		fail_msg("'%s' is %llu/%llx,%llx,%llx, perf has %llu/%llx,%llx,%llx", name, is.type,
			 is.config, is.config1, is.config2, r->type, r->config, r->config1,
			 r->config2);
	events__free(&events);
}

static void the_same_as_perf(void **state)
{
	FILE *f = fopen("tests/data/perf-attrs.txt", "re");
	char *line = NULL, *name = NULL;
	struct recorded r = {};
	size_t room = 0, n = 0;
	ssize_t len;

	(void)state;
	assert_non_null(f);
	while ((len = getline(&line, &room, f)) > 0) {
		line[len - 1] = 0;
		if (line[0] == '#')
			continue;
		if (line[0] == ' ') {
			read_member(&r, line);
			continue;
		}
		if (name)
			compare(name, &r);
		free(name);
		name = strdup(line);
		r = (struct recorded){};
		n++;
	}
	compare(name, &r);
	assert_true(n > 150);
	free(name);
	free(line);
	fclose(f);
}

/* --- lists ---------------------------------------------------------------------------------- */

/* Everything that a source lists must be one of its own events. */
static int try_listed(void *arg, const char *name, const char *description)
{
	const struct event_source *source = arg;
	struct event_context ctx = { .pmus = PMUS };
	struct events events = {};
	struct complaint c;

	assert_true(description[0] && strlen(name) < 64);
	if (strchr(name, '[') || !strncmp(name, "odd/", 4) || !strncmp(name, "hv_24x7/", 8))
		return 0;       /* a form, or an event that is broken or lacks a value */
	if (events__parse(&events, &ctx, name, &c))
		fail_msg("'%s': %s", name, c.what);
	assert_ptr_equal(events.event[0].source, source);
	events__free(&events);
	return 0;
}

static int stop_at_once(void *arg, const char *name, const char *description)
{
	(void)name, (void)description;
	return --*(int *)arg ? 0 : -ECANCELED;
}

static void lists(void **state)
{
	const struct event_source *const sources[] = {
		&event_hardware, &event_software, &event_pmu, &event_breakpoint,
	};
	struct event_context ctx = { .pmus = PMUS };
	size_t i;
	int stop;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		assert_int_equal(sources[i]->list(&ctx, try_listed, (void *)sources[i]), 0);
		stop = 1;
		assert_int_equal(sources[i]->list(&ctx, stop_at_once, &stop), -ECANCELED);
	}
	stop = 14;      /* among the cache events */
	assert_int_equal(event_hardware.list(&ctx, stop_at_once, &stop), -ECANCELED);
	assert_int_equal(stop, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_good_event),
		cmocka_unit_test(places),
		cmocka_unit_test(terms_of_samples),
		cmocka_unit_test(groups_are_numbered_on),
		cmocka_unit_test(every_bad_event),
		cmocka_unit_test(hints),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(software_sites),
		cmocka_unit_test(one_that_cannot_be_resolved),
		cmocka_unit_test(the_same_as_perf),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
