import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBareSystemd, installed, joinable } from './images/systemd.ts'
import type { Suite } from './images/systemd.ts'
import { execIn } from './exec.ts'
import { askEngine } from './machine/engine.ts'
import { withMachineLock } from './machine/lock.ts'
import { until } from './until.ts'

export type SystemdMachine = Awaited<ReturnType<typeof startSystemdMachine>>

/** Where a machine sees the folder `shared`. */
const sharedInside = '/mnt/shared'

/**
 * A server for tests: Debian with systemd as its init, in a container, with a network and packages from this
 * machine's mirror. With `engine` it has all that Davit needs, a Docker Engine of its own among it; else it is bare.
 */
export async function startSystemdMachine({
  engine = false,
  memory = 0,
  suite = 'bookworm',
}: { engine?: boolean; memory?: number; suite?: Suite } = {}) {
  const image = engine ? await ensureWithEngine(suite) : await ensureBareSystemd(suite)
  return startMachine(image, { memory })
}

async function startMachine(image: string, { memory }: { memory: number }) {
  const shared = await mkdtemp(join(tmpdir(), 'davit-server-'))
  const { Id: id } = await ask<{ Id: string }>('/containers/create', {
    Image: image,
    Cmd: ['/lib/systemd/systemd'],
    Env: ['container=docker'],
    StopSignal: 'SIGRTMIN+3',
    Labels: { 'test.machine': 'systemd' },
    Volumes: { '/var/lib/docker': {} },
    HostConfig: {
      CapAdd: ['SYS_ADMIN', 'NET_ADMIN', 'SYS_PTRACE', 'DAC_READ_SEARCH'],
      SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
      Sysctls: { 'net.ipv4.ip_forward': '1' },
      Tmpfs: { '/run': 'exec', '/run/lock': '', '/tmp': 'exec' },
      Binds: ['/sys/fs/cgroup:/sys/fs/cgroup:ro', `${shared}:${sharedInside}`],
      Memory: memory,
    },
  })
  const leave = async () => {
    await askEngine(`/containers/${id}/stop?t=15`, { method: 'POST' })
    await askEngine(`/containers/${id}?force=true&v=true`, { method: 'DELETE' })
    await rm(shared, { recursive: true, force: true })
  }
  /** Resolves with its address when it has started. */
  const started = async () => {
    await until(async () => {
      const { output } = await execIn(id, ['systemctl', 'is-system-running'])
      return /^(running|degraded)/.test(output)
    }, 120)
    return (await inspect(id)).NetworkSettings.IPAddress
  }
  try {
    await ask(`/containers/${id}/start`, {})
    return {
      id,
      /** This machine reaches the server's ports here; another address after it was off. */
      address: await started(),
      /** A folder of this machine; the server has it at `sharedInside`. */
      shared,
      sharedInside,
      /** Runs a program as root to its end. */
      run: (command: string[], options: { env?: Record<string, string> } = {}) =>
        execIn(id, command, options),
      /** The same; throws when its exit status isn't 0. */
      async must(command: string[], options: { env?: Record<string, string> } = {}) {
        const { exitCode, output } = await execIn(id, command, options)
        if (exitCode !== 0) throw new Error(`${command.join(' ')} ends with ${exitCode}: ${output}`)
        return output
      },
      /** Gives the server's own engine an image of this machine's. */
      async loadImage(name: string) {
        const file = `${crypto.randomUUID()}.tar`
        const saved = await askEngine(`/images/${name}/get`)
        if (!saved.ok) throw new Error(`there is no image ${name} here`)
        await Bun.write(join(shared, file), saved)
        await this.must(['docker', 'load', '-i', `${sharedInside}/${file}`])
        await rm(join(shared, file))
      },
      /** Shuts it down and starts it again. */
      async reboot() {
        await ask(`/containers/${id}/restart?t=30`, {})
        this.address = await started()
      },
      /** Has it lose its power, and start again. */
      async losePower() {
        await ask(`/containers/${id}/kill`, {})
        await ask(`/containers/${id}/start`, {})
        this.address = await started()
      },
      /** Ends it and removes it with all that it has. */
      leave,
    }
  } catch (error) {
    await leave()
    throw error
  }
}

/** The bare machine after the packages were installed once. */
async function ensureWithEngine(suite: Suite) {
  const bare = await ensureBareSystemd(suite)
  const image = bare.replace(':', '-engine:')
  const isMade = async () => (await askEngine(`/images/${image}/json`)).ok
  if (await isMade()) return image
  await withMachineLock(async () => {
    if (await isMade()) return
    const machine = await startMachine(bare, { memory: 0 })
    try {
      const env = { DEBIAN_FRONTEND: 'noninteractive' }
      await machine.must(['apt-get', 'update'], { env })
      const names = suite === 'trixie' ? [...installed, ...joinable] : installed
      const install = ['apt-get', 'install', '--yes', '--no-install-recommends', ...names]
      await machine.must(install, { env })
      await machine.must(['systemctl', 'stop', 'docker.socket', 'docker', 'containerd'])
      const [repo, tag] = image.split(':')
      await ask(`/commit?container=${machine.id}&repo=${repo}&tag=${tag}`, {})
    } finally {
      await machine.leave()
    }
  })
  return image
}

type Inspected = { NetworkSettings: { IPAddress: string } }

async function inspect(id: string) {
  return (await (await askEngine(`/containers/${id}/json`)).json()) as Inspected
}

async function ask<T>(path: string, body: object) {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await askEngine(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The engine refuses ${path}: ${text}`)
  return (text ? JSON.parse(text) : null) as T
}
