import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { bareEnvironment, startDavit } from '../support/davit.ts'
import { until } from '../support/until.ts'

type Service = { id: string; status: string; containers: { id: string }[] }

/** Seconds that a database may take until it is well: it makes its files first, on a disk that others use too. */
const databaseStart = 90

/** A Davit as a process of its own, with a user; what it made is removed with the test. */
export async function aDavit() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-connect-'))
  const env = {
    DAVIT_DATA_DIR: join(directory, 'data'),
    DAVIT_REGISTRATION: 'open',
    DAVIT_SETTLE_TIME: '1',
    DAVIT_RATE_LIMIT: '10000',
    DAVIT_RATE_BURST: '10000',
  }
  const davit = await startDavit({ directory, env })
  const clients: DavitClient[] = []
  onTestFinished(async () => {
    for (const client of clients) await client.removeAll()
    await davit.stop()
    rmSync(directory, { recursive: true })
  })

  return {
    url: davit.url,
    env,
    register,
    make,
    settle,
    connect: (args: string[], more = {}) => connect(args, { ...env, ...more }),
  }

  async function register(email: string) {
    const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(110_000) })
    clients.push(client)
    await client.enter('/auth/register', { email, password: crypto.randomUUID() })
    return client
  }

  /** Makes a service of a template or Compose file and waits until its start has ended. */
  async function make(client: DavitClient, path: string, fields: Record<string, unknown>) {
    const { id } = await client.post<Service>(path, fields)
    return settle(client, id)
  }

  async function settle(client: DavitClient, id: string) {
    let service = await client.get<Service>(`/services/${id}`)
    await until(async () => {
      service = await client.get<Service>(`/services/${id}`)
      return !['pulling', 'creating', 'starting'].includes(service.status)
    }, databaseStart)
    return service
  }
}

export type Connection = ReturnType<typeof connect>

/** Runs `davit connect` until it is ended. */
function connect(args: string[], env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'connect', ...args], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...bareEnvironment(), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  const stderr = child.stderr.text()
  let stdout = ''
  const reading = (async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) stdout += chunk
  })()
  return {
    /** What it says once it forwards. */
    async open() {
      await until(() => {
        if (child.exitCode !== null) throw new Error(`It ended: ${child.exitCode}`)
        return stdout.includes('until Ctrl-C.\n')
      })
      return stdout
    },
    /** Where it listens. */
    address: () => /is at (127\.0\.0\.1:\d+) until/.exec(stdout)![1]!,
    /** Ends it, if it doesn't end by itself. */
    async ended(signal?: 'SIGINT') {
      if (signal) child.kill(signal)
      const status = await child.exited
      await reading
      return { status, stdout, stderr: await stderr }
    },
  }
}
