import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureSshd } from './machine.ts'

export type SshServer = {
  port: number
  /** The address of a path on this machine, as the user who runs the tests. */
  urlOf: (path: string) => string
  /** Lets a key in, and no other. */
  allow: (publicKey: string) => void
  /** Starts anew at the same port with another host key. */
  changeHostKey: () => Promise<void>
  stop: () => Promise<void>
}

/** Debian's sshd on loopback, with keys and settings of its own. */
export async function startSshServer(): Promise<SshServer> {
  const sshd = await ensureSshd({ say: console.error })
  const dir = mkdtempSync(join(tmpdir(), 'davit-sshd-'))
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const allowed = join(dir, 'authorized_keys')
  const hostKey = join(dir, 'host_key')
  const port = freePort()
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: hostKey,
    AuthorizedKeysFile: allowed,
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
    LogLevel: 'ERROR',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  writeFileSync(join(dir, 'config'), `${lines.join('\n')}\n`)
  writeFileSync(allowed, '', { mode: 0o600 })

  let child = await start()
  return {
    port,
    urlOf: (path) => `ssh://${user}@127.0.0.1:${port}${path}`,
    allow: (publicKey) => writeFileSync(allowed, `${publicKey}\n`),
    async changeHostKey() {
      await end()
      child = await start()
    },
    async stop() {
      await end()
      rmSync(dir, { recursive: true, force: true })
    },
  }

  async function start() {
    rmSync(hostKey, { force: true })
    Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', hostKey], { stdin: null })
    const started = Bun.spawn([sshd, '-D', '-e', '-f', join(dir, 'config')], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    while (!(await answers(port))) {
      if (started.exitCode !== null) {
        throw new Error(`sshd does not start: ${await started.stderr.text()}`)
      }
    }
    return started
  }

  async function end() {
    child.kill()
    await child.exited
  }
}

const user = Bun.spawnSync(['id', '-un']).stdout.toString().trim()

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
}

/** Whether an SSH server greets at this port. */
function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  Bun.connect({
    hostname: '127.0.0.1',
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
