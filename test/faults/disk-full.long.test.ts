import { expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { account, anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { aSmallDisk, takeAll } from './small-disk.ts'

const pages = ['/dashboard', '/projects', '/services', '/settings/profile', '/health/ready']

test('on a full disk all is read, nothing is half written, and with room all goes on', async () => {
  await using disk = await aSmallDisk()
  const davit = anInstallation({ dataDir: disk.dataDir })
  const reserve = join(disk.dataDir, 'ballast')
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
      expect(refusal, name).toContain('answered 503')
    }
    for (const page of pages) {
      expect(await refusalOf(client.page(page)), page).toBe('')
    }
    const ready = await client.get<{ disk?: string }>('/health/ready')
    expect(ready.disk).toBe('full')
    const projects = await client.get<{ items: { name: string }[] }>('/projects?limit=500')
    const found = projects.items.map(({ name }) => name).toSorted()
    expect(found).toEqual(stored.toSorted())

    await rm(disk.others)
    await make('with room again')
    await client.delete(`/projects/${second}`)
    expect(await davit.stop()).toBe(0)
    for (const name of ['davit.db', 'logs.db'])
      expect(checkIntegrity(join(disk.dataDir, name)), name).toBe('ok')
  } finally {
    await davit.leave()
  }
})

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
