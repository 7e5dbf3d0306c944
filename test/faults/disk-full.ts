import { Database } from 'bun:sqlite'
import { appendFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { account, anInstallation } from '../support/installation.ts'
import { requireRoot, run } from '../support/machine/command.ts'
import { until } from '../support/until.ts'
import type { FaultReport } from './report.ts'

/** MiB; little is soon full. */
const size = 12

const pages = ['/dashboard', '/projects', '/services', '/settings/profile', '/health/ready']

/**
 * Fills the disk with Davit's data to the last byte, then asks for everything: reads are answered,
 * writes refused in words, nothing is half there, and all goes on without a restart when there is room.
 */
export async function fillTheDisk({ rounds }: { rounds: number }): Promise<FaultReport> {
  const broken: string[] = []
  for (let round = 0; round < rounds; round++) broken.push(...(await fillOnce()))
  for (const what of broken) console.error(what)
  return {
    what: "the disk with Davit's data, filled to the last byte",
    unit: 'fillings that broke a promise',
    rounds,
    bad: Math.min(rounds, broken.length),
    figures: `${pages.length} pages and 6 kinds of write in each`,
  }
}

async function fillOnce() {
  await using disk = await aSmallDisk()
  const davit = anInstallation({ dataDir: disk.dataDir })
  const reserve = join(disk.dataDir, 'ballast')
  const broken: string[] = []
  const expect = (holds: unknown, what: string) => holds || broken.push(what)
  try {
    const { client, url } = await davit.start()
    const make = (name: string) => client.post<{ id: string }>('/projects', { name, repositoryUrl })
    const { id: first } = await make('first')
    const { id: second } = await make('second')
    await until(() => exists(reserve)) // it is held soon after the start

    takeAll(disk.others)
    const stored = ['second', ...(await storeUntil(make, async () => !(await exists(reserve))))]
    await client.delete(`/projects/${first}`) // what cleans up finds room

    takeAll(disk.others)
    stored.push(...(await storeUntil(make, () => false)))
    const writes = {
      'a project': () => make('one too many'),
      'a change': () => client.put(`/projects/${second}`, { branch: 'next' }),
      'a token': () =>
        client.post('/settings/tokens', {
          name: 'ci',
          scopes: ['read'],
          currentPassword: account.password,
        }),
      'a login': () => client.post('/auth/login', account),
      'a deletion': () => client.delete(`/projects/${second}`),
      'a webhook': () => push(url),
    }
    for (const [name, write] of Object.entries(writes)) {
      const refusal = await refusalOf(write())
      expect(/answered 503/.test(refusal) && /disk|later/.test(refusal), `${name}: ${refusal}`)
    }
    for (const page of pages) {
      const refusal = await refusalOf(client.page(page))
      expect(refusal === '', refusal)
    }
    const ready = await client.get<{ disk?: string }>('/health/ready')
    expect(ready.disk === 'full', 'its health does not tell of the disk')
    const projects = await client.get<{ items: { name: string }[] }>('/projects?limit=500')
    const found = projects.items.map(({ name }) => name).toSorted()
    expect(Bun.deepEquals(found, stored.toSorted()), 'not what was answered 201 is there')

    await rm(disk.others)
    await make('with room again')
    await client.delete(`/projects/${second}`)
    expect((await davit.stop()) === 0, 'it did not end in good order')
    for (const name of ['davit.db', 'logs.db'])
      expect(checkIntegrity(join(disk.dataDir, name)) === 'ok', `${name} is damaged`)
  } finally {
    await davit.leave()
  }
  return broken
}

const repositoryUrl = 'https://git.example.com/team/site.git'

/** Makes projects until one is refused or it is enough; answers what is said to be stored. */
async function storeUntil(
  make: (name: string) => Promise<unknown>,
  isEnough: () => Promise<boolean> | boolean,
) {
  const stored: string[] = []
  while (stored.length < 300 && !(await isEnough())) {
    const name = `project ${Bun.randomUUIDv7().slice(-12)}`
    if (await refusalOf(make(name))) break
    stored.push(name)
  }
  return stored
}

async function push(url: string) {
  const body = JSON.stringify({ repository: { clone_url: repositoryUrl, full_name: 'team/site' } })
  const headers = {
    'Content-Type': 'application/json',
    'X-GitHub-Event': 'push',
    'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`,
  }
  const answer = await fetch(`${url}/webhooks/github`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`a push is answered ${answer.status}: ${await answer.text()}`)
}

/** Others fill the disk to its last byte. */
export function takeAll(path: string) {
  const zeros = Buffer.alloc(65_536)
  for (let length = zeros.length; length > 0; length >>= 1)
    try {
      for (;;) appendFileSync(path, zeros.subarray(0, length))
    } catch {
      // no room for so much; for less there may be
    }
}

const refusalOf = (write: Promise<unknown>) =>
  write.then(
    () => '',
    (error: Error) => error.message,
  )

const exists = (path: string) => Bun.file(path).exists()

function checkIntegrity(path: string) {
  using sqlite = new Database(path, { readonly: true })
  return sqlite.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()!
    .integrity_check
}

export async function aSmallDisk() {
  requireRoot('a small disk')
  const path = await mkdtemp(join(tmpdir(), 'davit-disk-'))
  const mounted = await run(['mount', '-t', 'tmpfs', '-o', `size=${size}m`, 'davit-disk', path])
  if (mounted.exitCode !== 0) throw new Error(`A small disk is not mounted: ${mounted.output}`)
  const dataDir = join(path, 'data')
  await mkdir(dataDir)
  return {
    dataDir,
    /** What takes the room, and is not ours. */
    others: join(path, 'others'),
    async [Symbol.asyncDispose]() {
      await run(['umount', path])
      await rm(path, { recursive: true, force: true })
    },
  }
}
