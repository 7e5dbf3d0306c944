/**
 * Programs that manage all processes of a container and refuse to run as anything but process 1: s6-overlay's
 * `/init`, which most images of linuxserver.io start with, systemd, and similar ones.
 */
const inits = [
  '/init',
  ...['init', 'openrc-init', 'runit-init', 'my_init', 'dinit'].flatMap((name) => [
    `/sbin/${name}`,
    `/usr/sbin/${name}`,
  ]),
  ...['/lib/systemd', '/usr/lib/systemd', '/bin', '/usr/bin'].map((folder) => `${folder}/systemd`),
  ...['/bin', '/usr/bin'].map((folder) => `${folder}/catatonit`),
]

/** True when a command is such a program, or a shell that replaces itself with one. */
export function isInit([program = '', flag, script = '']: string[]) {
  if (inits.includes(program)) return true
  if (flag !== '-c' || !/^(?:\/(?:usr\/)?bin\/)?(?:ba|da|a)?sh$/.test(program)) return false
  const [, first = ''] = /^\s*(?:exec\s+)?(\S+)[^;&|]*$/.exec(script) ?? []
  return inits.includes(first)
}
