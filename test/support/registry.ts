import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { ensureRegistry } from './machine.ts'

export type ImageRegistry = { host: string; stop: () => Promise<void> }

/** Debian's registry on loopback, where the engine accepts plain HTTP; closed to all but one user when given. */
export async function startRegistry(
  user?: { username: string; password: string },
  {
    reports,
    keepsImages = false,
    address = '127.0.0.1',
  }: { reports?: string; keepsImages?: boolean; address?: string } = {},
): Promise<ImageRegistry> {
  const registry = await ensureRegistry({ say: console.error })
  const dir = mkdtempSync(join(tmpdir(), 'davit-registry-'))
  const host = `${address}:${freePort()}`
  const users = join(dir, 'htpasswd')
  if (user) {
    const hash = await Bun.password.hash(user.password, { algorithm: 'bcrypt', cost: 4 })
    writeFileSync(users, `${user.username}:${hash}\n`)
  }
  const settings = {
    version: '0.1',
    log: { level: 'error' },
    storage: {
      filesystem: { rootdirectory: join(dir, 'images') },
      delete: { enabled: !keepsImages },
    },
    http: { addr: host },
    ...(reports && {
      notifications: {
        endpoints: [{ name: 'davit', url: reports, timeout: '20s', threshold: 5, backoff: '1s' }],
      },
    }),
    ...(user && { auth: { htpasswd: { realm: 'test', path: users } } }),
  }
  writeFileSync(join(dir, 'config.yml'), JSON.stringify(settings)) // JSON is YAML
  const child = Bun.spawn([registry, 'serve', join(dir, 'config.yml')], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await untilAnswers(`http://${host}/v2/`)
  return {
    host,
    async stop() {
      child.kill()
      await child.exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function untilAnswers(url: string) {
  const deadline = performance.now() + 20_000
  while (performance.now() < deadline) {
    const answer = await fetch(url).catch(() => null)
    if (answer) return
    await Bun.sleep(50)
  }
  throw new Error(`The registry doesn’t respond at ${url}.`)
}
