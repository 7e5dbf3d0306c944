import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { setupCodeIn, startDavit } from './davit.ts'
import { buildExecutable } from './executable.ts'

/** What is opened most, and what a start doesn't have. */
const pages = ['/projects', '/services', '/containers', '/map', '/docs', '/docs/edge', '/docs/api']

/**
 * Records which functions a start uses, and then the first pages, so that the build places them together:
 * others aren't read from the file then. A record of older sources still serves what has not changed since.
 */
const directory = mkdtempSync(join(tmpdir(), 'davit-order-'))
try {
  const executable = join(directory, 'davit')
  const record = join(directory, 'order')
  await buildExecutable(executable)
  const env = { DAVIT_DATA_DIR: join(directory, 'data'), BUN_BYTECODE_ORDER_OUT: record }
  const server = await startDavit({ directory, command: [executable], env })
  await fetch(`${server.url}/health/ready`)
  await Bun.sleep(15_000) // what a server at rest does runs at least once
  const client = new DavitClient({ url: server.url, signal: AbortSignal.timeout(60_000) })
  const account = { email: 'order@example.com', password: Bun.randomUUIDv7() }
  const setupCode = setupCodeIn(env.DAVIT_DATA_DIR)
  await client.enter('/auth/register', { ...account, setupCode })
  const repositoryUrl = 'https://example.com/app.git'
  const { id } = await client.post<{ id: string }>('/projects', { name: 'app', repositoryUrl })
  for (const path of [...pages, `/projects/${id}`, `/projects/${id}/settings`]) {
    const page = await client.ask('GET', path, { headers: { Accept: 'text/html' } })
    if (!page.ok) throw new Error(`${path} is answered ${page.status}`)
    await page.text()
  }
  await server.stop()
  const lines = (await Bun.file(record).text()).split('\n')
  const functions = lines.filter((line) => /^(v\d+$|F )/.test(line)) // the format, then each by its hash
  await Bun.write(join(import.meta.dir, '../../src/bytecode-order'), `${functions.join('\n')}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
