/**
 * Programs that manage all processes of a container, and refuse to run as anything but process 1: s6-overlay's
 * `/init`, which most images of linuxserver.io start with, systemd, and those like them.
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

/** Whether a command is such a program, also where a shell starts it in its own place. */
export function isInit([program = '', flag, script = '']: string[]) {
  if (inits.includes(program)) return true
  if (flag !== '-c' || !/^(?:\/(?:usr\/)?bin\/)?(?:ba|da|a)?sh$/.test(program)) return false
  const [, first = ''] = /^\s*(?:exec\s+)?(\S+)[^;&|]*$/.exec(script) ?? []
  return inits.includes(first)
}
