import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { lastLine, requireRoot, run, which } from '../support/machine/command.ts'
import { askEngine } from '../support/machine/engine.ts'
import { aHost } from './private-host.ts'

export type PrivateEngine = Awaited<ReturnType<typeof startPrivateEngine>>

type Options = {
  /** Gives its data a disk of this many MiB; without one they lie on the machine's. */
  diskMb?: number
  /** More of `daemon.json`, over what is there. */
  config?: Record<string, unknown>
  /** Which of the machine's images it has beside busybox. */
  images?: string[]
  /** More arguments, such as where else it listens. */
  listen?: (address: string) => string[]
  /** A root file system whose `dockerd` it is, in place of the machine's; it stays as it is. */
  root?: string
  /** What it keeps lies in there, in a folder of its own. */
  within?: string
  /** The name of its machine, in place of this one's. */
  hostname?: string
  /** Prepares its machine before it starts, and again after a crash. */
  prepare?: (machine: Machine) => Promise<void>
}

type Machine = Awaited<ReturnType<typeof aHost>>

const patience = 100_000 // ms

/**
 * An engine that a test may stop, freeze and fill: with a network, processes and a disk of its own,
 * which all go when it is disposed of, or when we die. It has `busybox:latest`, and runs.
 */
export async function startPrivateEngine({
  diskMb,
  config = {},
  images = [],
  listen = () => [],
  root,
  within = tmpdir(),
  hostname = '',
  prepare,
}: Options = {}) {
  checkMachine()
  await using undo = new AsyncDisposableStack()
  const directory = await mkdtemp(join(within, 'davit-private-'))
  undo.defer(() => rm(directory, { recursive: true, force: true }))
  const dataRoot = join(directory, 'data')
  await mkdir(dataRoot)
  if (diskMb) undo.use(await aDisk(dataRoot, diskMb))
  undo.defer(() => removeGroups(basename(directory)))
  let host = await aHost(hostname)
  undo.defer(() => host[Symbol.asyncDispose]())
  await prepare?.(host)
  const socket = join(directory, 'docker.sock')
  const pidFile = join(directory, 'docker.pid')
  const log = join(directory, 'dockerd.log')
  const configFile = join(directory, 'daemon.json')
  await Bun.write(configFile, JSON.stringify({ ...ownPlace(directory), ...config }))

  let process: Bun.Subprocess | undefined
  const signal = async (name: string) => {
    const pid = (await Bun.file(pidFile).text()).trim()
    await must([...host.inside, 'kill', '-s', name, pid], 'signal the engine')
  }
  /** The one that waits for the engine stops with a frozen one, and would not see its end. */
  const ended = () => {
    process!.kill('SIGCONT')
    return process!.exited
  }
  const answers = async () => {
    const asked = { unix: socket, signal: AbortSignal.timeout(2000) }
    return (await fetch('http://localhost/_ping', asked).catch(() => null))?.ok ?? false
  }

  const engine = {
    host: `unix://${socket}`,
    socket,
    dataRoot,
    log,
    /** Where its containers' published ports are reached: a `DAVIT_PUBLISH_ADDRESS`. */
    get address() {
      return host.address
    },
    /** Runs the argv that follows among its processes and networks. */
    get inside() {
      return host.inside
    },

    /** Starts it; resolves when it answers. */
    async start() {
      const parts = ['--data-root', dataRoot, '--exec-root', join(directory, 'exec')]
      const files = ['--pidfile', pidFile, '--config-file', configFile, '-H', engine.host]
      const output = Bun.file(log)
      const more = listen(host.address)
      const program = root ? [...inRoot(root, directory), 'dockerd'] : ['dockerd']
      process = Bun.spawn([...host.inside, ...program, ...parts, ...files, ...more], {
        stdin: 'ignore',
        stdout: output,
        stderr: output,
        env: host.env,
      })
      const end = performance.now() + patience
      while (!(await answers())) {
        if (process.exitCode !== null || performance.now() > end)
          throw new Error(`The private engine does not start: ${lastLine(await output.text())}`)
        await Promise.race([process.exited, Bun.sleep(50)])
      }
    },

    /** Ends it, in good order or not; resolves when it is gone. */
    async stop(name: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
      await signal(name.slice(3))
      await ended()
    },

    /** It ends at once with all that it runs, and nothing else of its machine. */
    async kill() {
      await must([...host.inside, 'sh', '-c', killEngine], 'kill the engine')
      await ended()
      await killGroups(basename(directory))
    },

    /** Starts it after a kill. */
    async startAgain() {
      for (const name of [pidFile, join(directory, 'exec')])
        await rm(name, { recursive: true, force: true })
      await engine.start()
    },

    /** The power goes: each process and network of its machine is gone at once; its disk stays. */
    async crash() {
      await host[Symbol.asyncDispose]()
      await ended()
    },

    /** Starts the machine after a crash, at the same addresses, and the engine. */
    async boot() {
      host = await aHost(hostname)
      await prepare?.(host)
      await engine.startAgain()
    },

    /** It takes connections from then on, and answers none. */
    freeze: () => signal('STOP'),

    async thaw() {
      await signal('CONT')
      process!.kill('SIGCONT') // the one that waits for it stopped with it
    },

    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      process?.kill('SIGKILL') // one that was frozen would not see that all is gone
      await process?.exited
      await owned.disposeAsync()
    },
  }
  await engine.start()
  await loadImages({ socket, directory }, ['busybox:latest', ...images])
  const owned = undo.move()
  return engine
}

/** Nothing that it makes lies among what the machine's own engine has. */
const ownPlace = (directory: string) => ({
  'cgroup-parent': `/${basename(directory)}`,
  'shutdown-timeout': 1,
  'storage-driver': 'overlay2',
})

/**
 * Runs the argv that follows in that root, as the whole machine that it sees: by `pivot_root`, since in
 * a root by chroot an engine can't import images, and with a /sys that has the bridges of its own
 * network. What it writes beside its own folder is lost.
 */
function inRoot(root: string, directory: string) {
  const script = `
    set -e
    mkdir -p "$2/upper" "$2/work"
    mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" engine /mnt
    mkdir -p /mnt/sys
    mount -t sysfs engine /mnt/sys
    for place in /proc /sys/fs/cgroup /dev /tmp "$2"; do
      mkdir -p "/mnt$place"
      mount --rbind "$place" "/mnt$place"
    done
    mount -t tmpfs engine /mnt/run
    cd /mnt
    pivot_root . .
    umount -l .
    cd /
    shift 2
    exec "$@"`
  const apart = ['unshare', '--mount', '--propagation', 'private']
  return [...apart, 'sh', '-c', script, 'sh', root, directory]
}

function checkMachine() {
  requireRoot('an engine of a test')
  for (const program of ['dockerd', 'ip', 'unshare', 'nsenter'])
    if (!which(program)) throw new Error(`An engine of a test needs ${program}: install it.`)
}

const killEngine = `
  for one in /proc/[0-9]*; do
    read -r name <"$one/comm" || continue
    case $name in dockerd | containerd* | docker-proxy) kill -9 "\${one#/proc/}" ;; esac
  done 2>/dev/null
  true`

/** What containers run in. */
async function killGroups(name: string) {
  const ours = ['-path', `*/${name}/*`, '-name', 'cgroup.procs', '-exec', 'cat', '{}', '+']
  const { output } = await run(['find', '/sys/fs/cgroup', ...ours])
  const pids = new Set(output.match(/^\d+$/gm))
  if (pids.size > 0) await run(['kill', '-9', ...pids]) // some may have ended
}

/** The engine leaves the control groups of what it ran; with nothing in them they can go. */
export async function removeGroups(name: string) {
  const ours = ['-depth', '-type', 'd', '-path', `*/${name}*`]
  await run(['find', '/sys/fs/cgroup', ...ours, '-delete'])
}

async function aDisk(path: string, megabytes: number) {
  const options = `size=${megabytes}m,mode=0700`
  await must(['mount', '-t', 'tmpfs', '-o', options, 'davit-private', path], 'mount a disk')
  return { [Symbol.asyncDispose]: () => must(['umount', path], 'take the disk away') }
}

/** In one file, where a layer of several images is only once. */
async function loadImages(engine: { socket: string; directory: string }, images: string[]) {
  const names = images.map((image) => `names=${encodeURIComponent(image)}`).join('&')
  const saved = await askEngine(`/images/get?${names}`)
  if (!saved.ok) throw new Error(`The machine's engine doesn't have all: ${await saved.text()}`)
  const file = join(engine.directory, 'images.tar')
  await Bun.write(file, saved)
  const given = { unix: engine.socket, method: 'POST', body: Bun.file(file), timeout: false }
  const answer = await fetch('http://localhost/images/load', given)
  const output = await answer.text() // 200 before the outcome is known
  if (!answer.ok || output.includes('"errorDetail"'))
    throw new Error(`The private engine doesn't load ${images.join(', ')}: ${output}`)
  await rm(file)
}

async function must(command: string[], doing: string) {
  const { exitCode, output } = await run(command)
  if (exitCode !== 0) throw new Error(`The test can't ${doing}: ${lastLine(output)}`)
}
