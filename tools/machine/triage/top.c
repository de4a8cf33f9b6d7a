// SPDX-License-Identifier: BSD-2-Clause
/* The figures that top, vmstat, iostat, df and ss show first, from the readings of vitals. */
#include "machine/triage/top.h"

#include "base/array.h"

#define VITAL(figure_name, its_area, its_vital, its_figure, how, ...)                                                  \
	{ .name = figure_name, .tool = "vitals", .where = { { "area", its_area }, { "vital", its_vital } },            \
	  .figure = its_figure, .per = how, .zeros = true, ##__VA_ARGS__ }
#define SHARE(figure_name, its_area, its_vital, ...)                                                                   \
	VITAL(figure_name, its_area, its_vital, "share_percent", TRIAGE_PERCENT, ##__VA_ARGS__)
#define LEVEL(figure_name, its_area, its_vital, ...)                                                                   \
	VITAL(figure_name, its_area, its_vital, "limit_percent", TRIAGE_LEVEL, ##__VA_ARGS__)
#define COUNT(figure_name, its_area, its_vital, how, ...)                                                              \
	VITAL(figure_name, its_area, its_vital, "count", how, ##__VA_ARGS__)

const struct triage_rule triage_figures[] = {
	VITAL("load", "cpu", "load", "value", TRIAGE_LARGEST),
	SHARE("user", "cpu", "user|nice"),
	SHARE("system", "cpu", "system"),
	SHARE("irq", "cpu", "irq|softirq"),
	SHARE("steal", "cpu", "steal"),
	SHARE("idle", "cpu", "idle|iowait"),
	{ .name = "programs", .tool = "schedlat", .by = "comm", .figure = "runtime", .per = TRIAGE_OF_MACHINE },
	LEVEL("memory", "memory", "used"),
	LEVEL("swap", "memory", "swap_used"),
	{ .name = "growing", .tool = "faults", .by = "comm", .figure = "anon_growth", .per = TRIAGE_BYTES_PER_SECOND },
	VITAL("dirty", "memory", "dirty", "value", TRIAGE_LARGEST),
	SHARE("cpu-some", "cpu", "pressure_some"),
	SHARE("memory-some", "memory", "pressure_some"),
	SHARE("memory-full", "memory", "pressure_full"),
	SHARE("io-some", "io", "pressure_some"),
	SHARE("io-full", "io", "pressure_full"),
	SHARE("busy", "disk", "busy", .by = "object"),
	VITAL("in-flight", "disk", "in_flight", "value", TRIAGE_LARGEST, .by = "object"),
	COUNT("read", "disk", "read", TRIAGE_BYTES_PER_SECOND),
	COUNT("written", "disk", "written", TRIAGE_BYTES_PER_SECOND),
	COUNT("received", "net", "received", TRIAGE_BYTES_PER_SECOND, .by = "object"),
	COUNT("sent", "net", "sent", TRIAGE_BYTES_PER_SECOND, .by = "object"),
	COUNT("drops", "net", "rx_drops|tx_drops|softnet_drops", TRIAGE_PER_SECOND),
	COUNT("retransmits", "net", "retransmits", TRIAGE_PER_SECOND),
	LEVEL("space", "files", "used", .by = "object"),
	LEVEL("inodes", "files", "inodes", .by = "object"),
	COUNT("errors", "cgroup|files|kernel|memory|net",
	      "forks_refused|listen_drops|listen_overflows|messages|oom_kills|read_only|rx_drops|rx_errors|"
	      "softnet_drops|syncookies|tx_drops|tx_errors|udp6_full|udp_full",
	      TRIAGE_COUNT, .by = "vital|object"),
};
const size_t triage_figure_count = ARRAY_SIZE(triage_figures);

const struct triage_line triage_top_lines[] = {
	{ "cpu", "load {load}; user {user}, system {system}, irq {irq}, steal {steal}, idle {idle}" },
	{ "programs", "{programs*3} of the machine" },
	{ "memory", "{memory} of {memory.limit} used, swap {swap}, dirty {dirty.value}; grows: {growing*1}" },
	{ "pressure",
	  "some: cpu {cpu-some}, memory {memory-some}, io {io-some}; full: memory {memory-full}, io {io-full}" },
	{ "disks", "busy {busy*2}; in flight {in-flight*1}; read {read}, written {written}" },
	{ "network", "received {received*1}; sent {sent*1}; drops {drops}, retransmits {retransmits}" },
	{ "files", "{space*3}; inodes {inodes*1}" },
	{ "errors", "{errors*3}" },
};
const size_t triage_top_line_count = ARRAY_SIZE(triage_top_lines);
