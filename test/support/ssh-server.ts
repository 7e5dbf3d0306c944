import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { ensureSshd } from './machine.ts'

export type SshServer = {
  port: number
  /** The address of a path on this machine, as the user who runs the tests. */
  urlOf: (path: string) => string
  /** Lets a key in, and no other. */
  allow: (publicKey: string) => void
  /** Starts anew at the same port with another host key. */
  changeHostKey: () => Promise<void>
  /** Starts again after its machine went, which is reached there and by that argv now. */
  startAgain: (machine: { address: string; inside: string[] }) => Promise<void>
  /** Breaks every connection that is open; new ones are let in. */
  cut: () => void
  stop: () => Promise<void>
}

type Place = {
  /** Where this process reaches it. */
  address?: string
  /** Where it listens, by default there. */
  listens?: string
  /** The argv that runs what follows it among other processes and networks. */
  inside?: string[]
  /** The environment of what is run over it. */
  env?: Record<string, string>
}

/** Debian's sshd on loopback, with keys and settings of its own. */
export async function startSshServer({
  address: firstAddress = '127.0.0.1',
  listens = firstAddress,
  inside: place = [],
  env = {},
}: Place = {}): Promise<SshServer> {
  let [address, inside] = [firstAddress, place]
  const sshd = await ensureSshd({ say: console.error })
  const dir = mkdtempSync(join(tmpdir(), 'davit-sshd-'))
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const allowed = join(dir, 'authorized_keys')
  const hostKey = join(dir, 'host_key')
  const port = freePort()
  const settings = {
    Port: port,
    ListenAddress: listens,
    HostKey: hostKey,
    AuthorizedKeysFile: allowed,
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
    Subsystem: 'sftp internal-sftp',
    LogLevel: 'ERROR',
    // what the user's shell reads at its start has nothing to do with the tests
    SetEnv: Object.entries({ HOME: dir, ...env })
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  writeFileSync(join(dir, 'config'), `${lines.join('\n')}\n`)
  writeFileSync(allowed, '', { mode: 0o600 })

  let child = await start()
  return {
    port,
    urlOf: (path) => `ssh://${user}@${address}:${port}${path}`,
    allow: (publicKey) => writeFileSync(allowed, `${publicKey}\n`),
    async changeHostKey() {
      await end()
      rmSync(hostKey, { force: true })
      child = await start()
    },
    async startAgain(machine) {
      address = machine.address
      inside = machine.inside
      child = await start()
    },
    cut() {
      for (const pid of childrenOf(daemon())) process.kill(pid, 'SIGKILL')
    },
    async stop() {
      await end()
      rmSync(dir, { recursive: true, force: true })
    },
  }

  async function start() {
    const make = ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', hostKey]
    if (!existsSync(hostKey)) Bun.spawnSync(make, { stdin: null })
    const started = Bun.spawn([...inside, sshd, '-D', '-e', '-f', join(dir, 'config')], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    while (!(await answers(address, port))) {
      if (started.exitCode !== null) {
        throw new Error(`sshd does not start: ${await started.stderr.text()}`)
      }
    }
    return started
  }

  async function end() {
    process.kill(daemon(), 'SIGTERM')
    await child.exited
  }

  /** What enters other namespaces stays its parent. */
  function daemon() {
    return inside.length > 0 ? childrenOf(child.pid)[0]! : child.pid
  }
}

const user = Bun.spawnSync(['id', '-un']).stdout.toString().trim()

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Whether an SSH server greets at this port. */
function answers(hostname: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  Bun.connect({
    hostname,
    port,
    socket: {
      data(socket) {
        resolve(true)
        socket.end()
      },
      close: () => resolve(false),
      connectError: () => resolve(false),
    },
  }).catch(() => resolve(false))
  return promise
}
