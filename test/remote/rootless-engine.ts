import { aHost } from '../faults/private-host.ts'
import { lastLine, requireRoot, run, which } from '../support/machine/command.ts'
import { askEngine } from '../support/machine/engine.ts'
import { withMachineLock } from '../support/machine/lock.ts'
import { installPackages } from '../support/machine/packages.ts'
import { until } from '../support/until.ts'

/** Debian's, which comes with its Docker but isn't on the PATH. */
const script = '/usr/share/docker.io/contrib/dockerd-rootless.sh'

/** The files and devices that its user needs, where only its processes see them. */
const setUp = `set -e
mount -t tmpfs -o mode=0755 rootless /mnt
mknod /mnt/tun c 10 200
chmod 666 /mnt/tun
mount --bind /mnt/tun /dev/net/tun
echo nobody:100000:65536 > /mnt/ids
mount --bind /mnt/ids /etc/subuid
mount --bind /mnt/ids /etc/subgid
mkdir /mnt/run /mnt/home
chown nobody /mnt/run /mnt/home
chmod 700 /mnt/run
cp "$1" /mnt/dockerd-rootless.sh
mount -t tmpfs -o mode=1777 rootless /tmp`

/**
 * An engine that an unprivileged user runs, on a host of its own, with `busybox:latest`. Everything ends
 * when it is disposed of, or when we do.
 */
export async function startRootlessEngine() {
  await ensureRootless()
  await using undo = new AsyncDisposableStack()
  const host = undo.use(await aHost())
  const { exitCode, output } = await run([...host.inside, 'sh', '-c', setUp, 'sh', script])
  if (exitCode !== 0) throw new Error(`The test can't prepare a user: ${lastLine(output)}`)
  const user = ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups']
  const env = ['env', '-i', `PATH=${host.env.PATH}`, 'HOME=/mnt/home', 'XDG_RUNTIME_DIR=/mnt/run']
  const start = ['sh', '/mnt/dockerd-rootless.sh', '--shutdown-timeout', '1']
  const engine = Bun.spawn([...host.inside, ...user, ...env, ...start], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  undo.defer(async () => {
    engine.kill('SIGKILL')
    await engine.exited
  })
  const log = engine.stderr.text()
  const unix = `/proc/${host.pid}/root/mnt/run/docker.sock`
  const ask = (path: string, options: RequestInit = {}) =>
    fetch(`http://localhost${path}`, { unix, ...options })
  await until(async () => {
    if (engine.exitCode !== null)
      throw new Error(`The rootless engine does not start: ${lastLine(await log)}`)
    return (await ask('/_ping').catch(() => null))?.ok ?? false
  })
  const body = await (await askEngine('/images/busybox:latest/get')).blob()
  const loaded = await ask('/images/load', { method: 'POST', body })
  if (!loaded.ok) throw new Error(`The rootless engine takes no image: ${await loaded.text()}`)
  await loaded.text()
  const owned = undo.move()
  return {
    host: `unix://${unix}`,
    /** Where its containers' published ports are reached. */
    address: host.address,
    /** Runs the argv that follows on its host's network, as a program there. */
    beside: ['nsenter', '--target', host.pid, '--net', '--'],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function ensureRootless() {
  requireRoot('a rootless engine of a test')
  const packages = { rootlesskit: 'rootlesskit', slirp4netns: 'slirp4netns', newuidmap: 'uidmap' }
  const missing = () =>
    Object.entries(packages).flatMap(([program, name]) => (which(program) ? [] : [name]))
  if (missing().length === 0) return
  await withMachineLock(async () => {
    const names = missing()
    if (names.length === 0) return
    console.error(`Installing Debian's ${names.join(', ')}, which a rootless Docker needs.`)
    await installPackages(names)
  })
}
