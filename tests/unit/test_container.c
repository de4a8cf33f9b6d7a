// SPDX-License-Identifier: BSD-2-Clause
/* Containers and units from the paths of cgroups, and their names from the runtimes' files. */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "host/cgroup_names.h"
#include "host/container.h"
#include "host/container_name.h"
#include "host/user.h"

#define A "4f2a9c0d1e3b5f67a8091b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60"
#define B "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
#define A12 "4f2a9c0d1e3b"
#define B12 "b0b1b2b3b4b5"
#define UID_ "3c2f1e90_7a64_4f0e_9d0c_5b8a1f2e3d4c"
#define UID "3c2f1e90-7a64-4f0e-9d0c-5b8a1f2e3d4c"
#define USER "/user.slice/user-4123456789.slice/user@4123456789.service"

/* Paths on machines with these runtimes. container: as it is shown without any file; unit: NULL means "-". */
static const struct path {
	const char *path, *container, *id, *unit;
} paths[] = {
	/* No container. */
	{ "/", "-", "-", NULL },
	{ "/init.scope", "-", "-", "init.scope" },
	{ "/system.slice", "-", "-", "system.slice" },
	{ "/system.slice/nginx.service", "-", "-", "nginx.service" },
	{ "/system.slice/docker.service", "-", "-", "docker.service" },
	{ "/system.slice/containerd.service", "-", "-", "containerd.service" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "-", "-", "getty@tty1.service" },
	{ "/system.slice/postgresql@15-main.service", "-", "-", "postgresql@15-main.service" },
	{ "/system.slice/dev-disk-by\\x2duuid-1234.swap", "-", "-", "dev-disk-by\\x2duuid-1234.swap" },
	{ "/system.slice/boot-efi.mount", "-", "-", "boot-efi.mount" },
	{ "/system.slice/sshd.socket", "-", "-", "sshd.socket" },
	{ "/system.slice/_cpu.service", "-", "-", "cpu.service" },
	{ "/user.slice/user-1000.slice/session-3.scope", "-", "-", "session-3.scope" },
	{ "/user.slice/user-1000.slice", "-", "-", "user-1000.slice" },
	{ "/user.slice/user-1000.slice/user@1000.service", "-", "-", "user@1000.service" },
	{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "-", "-", "init.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice", "-", "-", "user@1000.service" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service", "-", "-", "foo.service" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/"
	  "vte-spawn-0c2c.scope",
	  "-", "-", "vte-spawn-0c2c.scope" },
	{ "/system.slice/k3s.service", "-", "-", "k3s.service" },
	{ "/web", "-", "-", NULL },
	{ "/tally-test-12/keys", "-", "-", NULL },
	/* Docker. */
	{ "/system.slice/docker-" A ".scope", A12, A12, "docker-" A ".scope" },
	{ "/docker/" A, A12, A12, NULL },
	{ "/docker/" A "/init", A12, A12, NULL },
	{ "/build.slice/docker-" A ".scope", A12, A12, "docker-" A ".scope" },
	{ "/some/parent/" A, A12, A12, NULL },
	{ "/system.slice/docker-" A ".scope/system.slice/nginx.service", A12, A12, "nginx.service" },
	/* One container inside another. */
	{ "/system.slice/docker-" A ".scope/docker/" B, A12 "/" B12, B12, "docker-" A ".scope" },
	{ "/docker/" A "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	  "kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" B ".scope",
	  A12 "/" B12, B12, "cri-containerd-" B ".scope" },
	{ "/lxc.payload.box/system.slice/docker-" A ".scope", "box/" A12, A12, "docker-" A ".scope" },
	/* Kubernetes, with systemd and without. */
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" A ".scope",
	  A12, A12, "cri-containerd-" A ".scope" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" A ".scope", A12, A12,
	  "crio-" A ".scope" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" A ".scope", A12, A12,
	  "cri-containerd-" A ".scope" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" A ".scope", A12, A12, "docker-" A ".scope" },
	{ "/kubepods/burstable/pod" UID "/" A, A12, A12, NULL },
	{ "/kubepods/besteffort/pod" UID "/" A, A12, A12, NULL },
	{ "/kubepods/pod" UID "/" A, A12, A12, NULL },
	{ "/kubepods/burstable/pod" UID "/crio-" A, A12, A12, NULL },
	{ "/kubepods/burstable/pod" UID, "pod" UID, "pod" UID, NULL },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice", "pod" UID, "pod" UID,
	  "kubepods-burstable-pod" UID_ ".slice" },
	{ "/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" A, A12, A12, NULL },
	{ "/kubepods/pod0123456789abcdef0123456789abcdef", "pod0123456789abcdef0123456789abcdef",
	  "pod0123456789abcdef0123456789abcdef", NULL },
	{ "/system.slice/containerd.service/kubepods-besteffort-pod" UID_ ".slice:cri-containerd:" A, A12, A12,
	  "containerd.service" },
	{ "/kubepods.slice/kubepods-burstable.slice", "-", "-", "kubepods-burstable.slice" },
	{ "/kubepods/burstable", "-", "-", NULL },
	/* nerdctl, Podman, CRI-O, with their monitors, which are outside the containers. */
	{ "/system.slice/nerdctl-" A ".scope", A12, A12, "nerdctl-" A ".scope" },
	{ "/default/" A, A12, A12, NULL },
	{ "/machine.slice/libpod-" A ".scope", A12, A12, "libpod-" A ".scope" },
	{ "/machine.slice/libpod-" A ".scope/container", A12, A12, "libpod-" A ".scope" },
	{ "/libpod_parent/libpod-" A, A12, A12, NULL },
	{ "/system.slice/web.service/libpod-payload-" A, A12, A12, "web.service" },
	{ "/system.slice/web.service/libpod-conmon-" A, "-", "-", "web.service" },
	{ "/machine.slice/libpod-conmon-" A ".scope", "-", "-", "libpod-conmon-" A ".scope" },
	{ "/system.slice/crio-conmon-" A ".scope", "-", "-", "crio-conmon-" A ".scope" },
	{ "/system.slice/crio-" A ".scope", A12, A12, "crio-" A ".scope" },
	/* A container of a user, who has no name here. */
	{ USER "/user.slice/libpod-" A ".scope", "4123456789/" A12, A12, "libpod-" A ".scope" },
	{ USER "/app.slice/docker.service/docker/" A, "4123456789/" A12, A12, "docker.service" },
	{ USER "/user.slice/libpod-" A ".scope/container/user.slice/user-0.slice", "4123456789/" A12, A12,
	  "libpod-" A ".scope" },
	{ "/user.slice/user-0.slice/session-1.scope/docker/" A, A12, A12, "session-1.scope" },
	{ "/machine.slice/libpod-" A ".scope/user.slice/user-1000.slice/session-2.scope", A12, A12, "session-2.scope" },
	/* LXC, LXD. */
	{ "/lxc.payload.web", "web", "web", NULL },
	{ "/lxc.payload.web/system.slice/nginx.service", "web", "web", "nginx.service" },
	{ "/lxc.payload.proj_c1", "proj_c1", "proj_c1", NULL },
	{ "/lxc.payload/web/init.scope", "web", "web", "init.scope" },
	{ "/lxc/web", "web", "web", NULL },
	{ "/lxc.monitor.web", "-", "-", NULL },
	{ "/lxc.monitor/web", "-", "-", NULL },
	/* systemd-nspawn, libvirt. */
	{ "/machine.slice/machine-box.scope", "box", "box", "machine-box.scope" },
	{ "/machine.slice/machine-my\\x2dbox.scope/payload", "my-box", "my-box", "machine-my\\x2dbox.scope" },
	{ "/machine.slice/systemd-nspawn@deb\\x2d12.service/payload/system.slice/cron.service", "deb-12", "deb-12",
	  "cron.service" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope", "qemu-1-vm1", "qemu-1-vm1",
	  "machine-qemu\\x2d1\\x2dvm1.scope" },
};

/* Paths that only look like containers. */
static const struct path hostile[] = {
	{ "/docker-.scope", "-", "-", "docker-.scope" },
	{ "/docker-" A12 ".scope", "-", "-", "docker-" A12 ".scope" },
	{ "/docker-" A "0.scope", "-", "-", "docker-" A "0.scope" },
	{ "/docker-" A ".scope (deleted)", "-", "-", NULL },
	{ "/docker-4F2A9C0D1E3B5F67A8091B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60", "-", "-", NULL },
	{ "/docker", "-", "-", NULL },
	{ "/docker/", "-", "-", NULL },
	{ "docker//" A, A12, A12, NULL },
	{ "/docker/../" A, A12, A12, NULL },
	{ "/.scope", "-", "-", NULL },
	{ "/.service/_.service/_", "-", "-", NULL },
	{ "/a b.service", "-", "-", NULL },
	{ "/\x1b[2J.service", "-", "-", NULL },
	{ "/\xe2\x80\xaeweb.service", "-", "-", NULL },
	{ "/lxc.payload.", "-", "-", NULL },
	{ "/lxc.payload.-", "-", "-", NULL },
	{ "/lxc/-", "-", "-", NULL },
	{ "/lxc/(removed, id 7)", "-", "-", NULL },
	{ "/lxc/\x1b[31m", "-", "-", NULL },
	{ "/machine-.scope", "-", "-", "machine-.scope" },
	{ "/machine-\\x2d.scope", "-", "-", "machine-\\x2d.scope" },
	{ "/machine-a\\x.scope", "-", "-", "machine-a\\x.scope" },
	{ "/machine-a\\x2.scope", "-", "-", "machine-a\\x2.scope" },
	{ "/machine-a\\x00b.scope", "-", "-", "machine-a\\x00b.scope" },
	{ "/machine-a\\xZZ.scope", "-", "-", "machine-a\\xZZ.scope" },
	{ "/machine-a\\x2fb.scope", "-", "-", "machine-a\\x2fb.scope" },
	{ "/machine-a\\.scope", "-", "-", "machine-a\\.scope" },
	{ "/pod" UID, "-", "-", NULL },
	{ "/kubepods/pod", "-", "-", NULL },
	{ "/kubepods/pod" UID "ff", "-", "-", NULL },
	{ "/kubepods/podpodpodpodpodpodpodpodpodpodpodpodpod", "-", "-", NULL },
	{ "/kubepods.slice/-pod.slice", "-", "-", "-pod.slice" },
	{ "/kubepods.slice/pod.slice", "-", "-", "pod.slice" },
	{ "/user.slice/user-1000x.slice/docker/" A, A12, A12, "user-1000x.slice" },
	{ "/user-99999999999999999999.slice/docker/" A, A12, A12, "user-99999999999999999999.slice" },
	{ "/user-.slice/docker/" A, A12, A12, "user-.slice" },
	{ "/user-0x10.slice/docker/" A, A12, A12, "user-0x10.slice" },
};

static void check(const struct path *p)
{
	struct cgroup_names names = { .files = { .root = "/nonexistent" } };
	const struct cgroup_name *n;

	assert_int_equal(cgroup_names__tell(&names, 1, p->path), 0);
	n = cgroup_names__find(&names, 1);
	assert_non_null(n);
	if (strcmp(n->container, p->container) || strcmp(n->container_id, p->id) || strcmp(n->unit, p->unit ?: "-"))
		print_error("%s: %s (%s), %s\n", p->path, n->container, n->container_id, n->unit);
	assert_string_equal(n->path, p->path);
	assert_string_equal(n->container, p->container);
	assert_string_equal(n->container_id, p->id);
	assert_string_equal(n->unit, p->unit ?: "-");
	cgroup_names__free(&names);
}

static void real_paths(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(paths); i++)
		check(&paths[i]);
}

static void hostile_paths(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(hostile); i++)
		check(&hostile[i]);
}

/* Pieces of real and of malformed paths in any order: the result has the right form. */
static void random_paths(void **state)
{
	static const char *const pieces[] = {
		"/",   "docker-",  "docker",	      A,       ".scope",   "libpod-",	 "lxc.payload.",
		"lxc", "machine-", "\\x2d",	      "\\x",   "kubepods", "pod",	 UID,
		UID_,  "-pod",	   ".slice",	      "user-", "1000",	   "4123456789", ".service",
		"_",   "-",	   "systemd-nspawn@",
	};
	struct random r = { 17 };
	struct container c;
	char path[1200], unit[CONTAINER_NAME_SIZE], nasty[32];
	size_t round, n, i, found = 0;

	(void)state;
	for (round = 0; round < 200000; round++) {
		for (path[0] = 0, n = 0, i = random__below(&r, 12); i; i--) {
			random__hostile(&r, nasty, sizeof(nasty));
			n += snprintf(path + n, sizeof(path) - n, "%s",
				      random__below(&r, 8) ? pieces[random__below(&r, ARRAY_SIZE(pieces))] : nasty);
		}
		memset(&c, 0x5a, sizeof(c));
		memset(unit, 0x5a, sizeof(unit));
		if (container__find(&c, path)) {
			found++;
			n = strnlen(c.id, sizeof(c.id));
			assert_true(n && n < sizeof(c.id) && c.id[0] != '-' && c.id[0] != '(');
			assert_true(strnlen(c.outer, sizeof(c.outer)) < sizeof(c.outer));
			assert_true(c.runtime > CONTAINER_UNKNOWN || n == CONTAINER_ID_LEN);
			assert_null(strchr(c.id, '/'));
		} else {
			assert_int_equal(c.id[0], 0x5a);
		}
		if (unit__find(unit, path))
			assert_non_null(strchr(unit, '.'));
		else
			assert_int_equal(unit[0], 0x5a);
	}
	assert_true(found > 1000);
}

/* Real components are never that long. A longer one is neither a container nor a unit. */
static void long_components(void **state)
{
	struct container c;
	char path[600] = "/lxc.payload.", unit[CONTAINER_NAME_SIZE];

	(void)state;
	memset(path + strlen(path), 'a', 300);
	assert_false(container__find(&c, path));
	strcpy(path + strlen(path), ".service");
	assert_false(unit__find(unit, path));
	path[13 + CONTAINER_NAME_SIZE - 1] = 0;
	assert_true(container__find(&c, path));
	assert_int_equal(strlen(c.id), CONTAINER_NAME_SIZE - 1);
}

/*
 * --- names -------------------------------------------------------------------------------------
 */

static char root[] = "/tmp/tally-container-XXXXXX";

static void make_folders(const char *path)
{
	char part[512];
	size_t i;

	for (i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		mkdir(part, 0755);
	}
}

static void make_file(const char *path, const char *text, size_t n)
{
	char whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	make_folders(whole);
	f = fopen(whole, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Returns the name of a cgroup's container, from the files under root. */
static char *name_of(const char *path)
{
	struct cgroup_names names = { .files = { .root = root } };
	char *name;

	assert_int_equal(cgroup_names__tell(&names, 1, path), 0);
	name = strdup(cgroup_names__find(&names, 1)->container);
	assert_non_null(name);
	cgroup_names__free(&names);
	return name;
}

/* The files must belong to root. */
static void skip_unless_root(void)
{
	if (geteuid())
		skip();
}

static void assert_name(const char *path, const char *expected)
{
	char *name = name_of(path);

	assert_string_equal(name, expected);
	free(name);
}

#define DOCKER_FILE "/var/lib/docker/containers/" A "/config.v2.json"
#define PODMAN "/var/lib/containers/storage/overlay-containers/"

static void names_of_docker(void **state)
{
	static const struct {
		const char *text, *name;
	} files[] = {
		{ "{\"ID\":\"" A "\",\"Name\":\"/web\"}", "web" },
		{ "{\"ID\":\"" A "\",\"Name\":\"web_2.b-c\"}", "web_2.b-c" },
		{ "{\"State\":{\"Name\":\"no\"},\"Name\":\"/web\",\"ID\":\"" A "\",\"Config\":{\"Env\":[1,null,{}]}}",
		  "web" },
		/* The file belongs to another container, has no name, or an invalid one. */
		{ "{\"ID\":\"" B "\",\"Name\":\"/web\"}", A12 },
		{ "{\"Name\":\"/web\"}", A12 },
		{ "{\"ID\":\"" A "\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":7}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"/\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"-\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"//web\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"alice/web\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"\\u001b[2J\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"we b\"}", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"w\\u202e\"}", A12 },
		/* The file has another format. */
		{ "", A12 },
		{ "{", A12 },
		{ "[]", A12 },
		{ "null", A12 },
		{ "{\"ID\":\"" A "\",\"Name\":\"/web\"", A12 },
		{ "\xff\xfe\x00{}", A12 },
	};
	size_t i;

	(void)state;
	skip_unless_root();
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		make_file(DOCKER_FILE, files[i].text, strlen(files[i].text));
		assert_name("/system.slice/docker-" A ".scope", files[i].name);
	}
	make_file(DOCKER_FILE, files[0].text, strlen(files[0].text));
	assert_name("/docker/" A "/init", "web");
	assert_name("/parent/" A, "web");
	assert_name("/docker/" B, B12);
	/* The file does not apply to a container inside a container, or to one of another runtime. */
	assert_name("/docker/" B "/docker/" A, B12 "/" A12);
	assert_name("/kubepods/burstable/pod" UID "/crio-" A, A12);
}

/* Files that are nested too deep, too large, or not regular. */
static void hostile_files(void **state)
{
	static char deep[200000];
	char path[512], *large;
	size_t n = (17 << 20);

	(void)state;
	skip_unless_root();
	memset(deep, '[', sizeof(deep));
	make_file(DOCKER_FILE, deep, sizeof(deep));
	assert_name("/docker/" A, A12);

	large = malloc(n);
	assert_non_null(large);
	memset(large, ' ', n);
	memcpy(large, "{\"ID\":\"" A "\",\"Name\":\"/web\"}", strlen("{\"ID\":\"" A "\",\"Name\":\"/web\"}"));
	make_file(DOCKER_FILE, large, n);
	assert_name("/docker/" A, A12);
	make_file(DOCKER_FILE, large, 16 << 20);
	assert_name("/docker/" A, "web");
	free(large);

	snprintf(path, sizeof(path), "%s%s", root, DOCKER_FILE);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_name("/docker/" A, A12);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_name("/docker/" A, A12);
	assert_int_equal(rmdir(path), 0);
}

static void names_of_podman(void **state)
{
	static const char list[] = "[{\"id\":\"" B "\",\"names\":[\"db\"]},{\"names\":[\"no\"]},7,"
				   "{\"id\":\"" A "\",\"names\":[\"web\",\"alias\"]}]";
	static const char none[] = "[{\"id\":\"" A "\",\"names\":[]}]";

	(void)state;
	skip_unless_root();
	make_file(PODMAN "containers.json", list, strlen(list));
	assert_name("/machine.slice/libpod-" A ".scope/container", "web");
	assert_name("/machine.slice/libpod-" B ".scope", "db");
	make_file(PODMAN "containers.json", none, strlen(none));
	assert_name("/machine.slice/libpod-" A ".scope", A12);
	make_file(PODMAN "volatile-containers.json", list, strlen(list));
	assert_name("/machine.slice/libpod-" A ".scope", "web");
}

#define NOBODY 65534

/*
 * A user's files must belong to her, be in her home, and not be symlinks. ("nobody" has no home on most machines, so it
 * is made here.)
 */
static void names_of_users(void **state)
{
	static const char list[] = "[{\"id\":\"" A "\",\"names\":[\"web\"]}]";
	char *home = user_home(NOBODY), *user = user_name(NOBODY), path[300], whole[400], elsewhere[400], expected[300];
	char cgroup[300];

	(void)state;
	if (!home || !user || geteuid())
		skip();
	snprintf(cgroup, sizeof(cgroup), "/user.slice/user-%u.slice/user@%u.service/user.slice/libpod-" A ".scope",
		 NOBODY, NOBODY);
	snprintf(path, sizeof(path), "%s/.local/share/containers/storage/overlay-containers/containers.json", home);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	make_file(path, list, strlen(list));
	snprintf(expected, sizeof(expected), "%s/" A12, user);
	assert_name(cgroup, expected);          /* a file that root owns does not count for her containers */
	assert_int_equal(chown(whole, NOBODY, NOBODY), 0);
	snprintf(expected, sizeof(expected), "%s/web", user);
	assert_name(cgroup, expected);

	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere.json", root);
	assert_int_equal(rename(whole, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, whole), 0);
	snprintf(expected, sizeof(expected), "%s/" A12, user);
	assert_name(cgroup, expected);
	free(home);
	free(user);
}

/* No further file is read once reading files has taken too long in total. */
static void time_is_limited(void **state)
{
	static const char text[] = "{\"ID\":\"" A "\",\"Name\":\"/web\"}";
	struct container_files files = { .root = root };
	struct container c;
	char *name;

	(void)state;
	skip_unless_root();
	make_file(DOCKER_FILE, text, strlen(text));
	assert_true(container__find(&c, "/docker/" A));
	name = container__name(&files, &c);
	assert_string_equal(name, "web");
	free(name);
	assert_true(files.spent_ns > 0);
	files.spent_ns = CONTAINER_NAMES_NS;
	assert_null(container__name(&files, &c));
}

/*
 * --- several cgroups ---------------------------------------------------------------------------
 */

static void the_first_of_a_name(void **state)
{
	static const struct {
		u64 id;
		const char *path;
		u64 first[4];           /* by enum cgroup_names_part, ORed */
	} told[] = {
		{ 1, "/system.slice/docker-" A ".scope", { 0, 1, 1, 1 } },
		{ 2, "/docker/" A "/x", { 0, 1, 2, 2 } },
		{ 3, "/", { 0, 3, 2, 3 } },
		{ 4, NULL, { 0, 4, 4, 4 } },
		{ 5, NULL, { 0, 5, 5, 5 } },
		{ 6, "/system.slice/cron.service/a", { 0, 3, 6, 6 } },
		{ 7, "/system.slice/cron.service/b", { 0, 3, 6, 6 } },
		{ 8, "/user.slice/user-4123456789.slice/docker/" A, { 0, 8, 8, 8 } },
	};
	struct cgroup_names names = { .files = { .root = "/nonexistent" } };
	u32 parts;
	size_t i;
	u64 first;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(told); i++)
		assert_int_equal(cgroup_names__tell(&names, told[i].id, told[i].path), 0);
	for (parts = 1; parts < 4; parts++) {
		for (i = 0; i < ARRAY_SIZE(told); i++) {
			assert_int_equal(cgroup_names__first(&names, told[i].id, parts, &first), 0);
			assert_int_equal(first, told[i].first[parts]);
		}
		cgroup_names__begin(&names);
		/* Removed containers are looked up again, so this reports them once more. */
		assert_int_equal(cgroup_names__tell(&names, 4, NULL), 0);
		assert_int_equal(cgroup_names__tell(&names, 5, NULL), 0);
	}
	assert_string_equal(cgroup_names__find(&names, 4)->container, "(removed, id 4)");
	assert_string_equal(cgroup_names__find(&names, 4)->unit, "(removed, id 4)");
	assert_string_equal(cgroup_names__find(&names, 4)->container_id, "-");
	cgroup_names__free(&names);
}

/* Two runtimes may have containers of the same name: then there is no single id to show. */
static void two_of_one_name(void **state)
{
	static const char docker[] = "{\"ID\":\"" A "\",\"Name\":\"/web\"}",
			  podman[] = "[{\"id\":\"" B "\",\"names\":[\"web\"]}]";
	struct cgroup_names names = { .files = { .root = root } };
	u64 first;

	(void)state;
	skip_unless_root();
	make_file(DOCKER_FILE, docker, strlen(docker));
	make_file(PODMAN "containers.json", podman, strlen(podman));
	assert_int_equal(cgroup_names__tell(&names, 1, "/docker/" A), 0);
	assert_int_equal(cgroup_names__tell(&names, 2, "/machine.slice/libpod-" B ".scope"), 0);
	assert_int_equal(cgroup_names__first(&names, 1, CGROUP_CONTAINER, &first), 0);
	assert_int_equal(first, 1);
	assert_false(cgroup_names__find(&names, 1)->has_several);
	assert_int_equal(cgroup_names__first(&names, 2, CGROUP_CONTAINER, &first), 0);
	assert_int_equal(first, 1);
	assert_true(cgroup_names__find(&names, 1)->has_several);
	cgroup_names__begin(&names);
	assert_false(cgroup_names__find(&names, 1)->has_several);
	cgroup_names__free(&names);
}

/* Memory is bounded, however many cgroups come and go. */
static void many_cgroups(void **state)
{
	struct cgroup_names names = { .files = { .root = "/nonexistent" } };
	char path[64];
	u64 id;

	(void)state;
	for (id = 1; id <= 5000; id++) {
		snprintf(path, sizeof(path), "/system.slice/u%llu.service", id);
		assert_int_equal(cgroup_names__tell(&names, id, path), 0);
		if (id == 4000) {
			cgroup_names__begin(&names);
			assert_int_equal(names.n, 4000);
		}
	}
	assert_string_equal(cgroup_names__find(&names, 4321)->unit, "u4321.service");
	cgroup_names__begin(&names);
	assert_int_equal(names.n, 0);
	cgroup_names__free(&names);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_paths),
		cmocka_unit_test(hostile_paths),
		cmocka_unit_test(random_paths),
		cmocka_unit_test(long_components),
		cmocka_unit_test(names_of_docker),
		cmocka_unit_test(hostile_files),
		cmocka_unit_test(names_of_podman),
		cmocka_unit_test(names_of_users),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(the_first_of_a_name),
		cmocka_unit_test(two_of_one_name),
		cmocka_unit_test(many_cgroups),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
