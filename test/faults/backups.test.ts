import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeBackup } from '../../src/backup/make.ts'
import { extract } from '../../src/backup/read.ts'
import { verifyDatabase } from '../../src/db/copy.ts'
import { openExisting } from '../../src/db/index.ts'
import { openVariables } from '../../src/environments/variable-store.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import type { DavitClient } from '../demo/client.ts'
import { anInstallation } from '../support/installation.ts'
import { aPush, sent } from '../webhooks/senders.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

/**
 * Each one is opened: it is sound, has no fewer rows than there were before it and no more than after, and
 * its key opens the secret as it was at some moment of it.
 */
test.each([null, 'a passphrase'])(
  'a backup of a Davit that is written to is whole, with the passphrase %p',
  async (passphrase) => {
    const davit = anInstallation()
    onTestFinished(() => davit.leave())
    const { directory, dataDir } = davit
    const deliveries = () => davit.rows('SELECT id FROM deliveries').length
    const writer = await aWriter(await davit.start())
    const before = { deliveries: deliveries(), secret: writer.stored() }
    await writer.comesOn()
    const file = join(directory, 'davit.backup')
    const config = { dataDir, secretKey: null }
    await makeBackup({ config, file, passphrase, withLogs: true, force: false, settings: {} })
    await writer.comesOn()
    const after = { deliveries: deliveries(), secret: writer.sent() }
    const found = await open({ file, passphrase, directory, environmentId: writer.environmentId })
    for (const what of ['deliveries', 'secret'] as const) {
      expect(found[what], what).toBeGreaterThanOrEqual(before[what])
      expect(found[what], what).toBeLessThanOrEqual(after[what])
    }
    await writer.stop()
  },
)

/** Delivers pushes and changes a secret variable, one after the other, until it is stopped. */
async function aWriter({ url, client }: { url: string; client: DavitClient }) {
  const project = await client.post<{ id: string; webhookSecret: string }>('/projects', {
    name: 'site',
    repositoryUrl,
    branch: 'main',
  })
  type List = { items: { id: string }[] }
  const environment = (await client.get<List>(`/projects/${project.id}/envs`)).items[0]!
  const path = `/envs/${environment.id}/variables`
  const variable = { key: 'TOKEN', value: '0', secret: true }
  const { id } = await client.post<{ id: string }>(path, variable)

  let stopped = false
  let sentValue = 0
  let storedValue = 0
  const working = work()
  working.catch(() => {}) // whoever waits for it hears of it
  return {
    environmentId: environment.id,
    sent: () => sentValue,
    stored: () => storedValue,
    /** Resolves when something more was stored. */
    async comesOn() {
      const seen = storedValue
      while (storedValue === seen) await Promise.race([working, Bun.sleep(1)])
    },
    async stop() {
      stopped = true
      await working
    },
  }

  async function work() {
    while (!stopped) {
      await deliver()
      await client.put(`${path}/${id}`, { value: String(++sentValue) })
      storedValue = sentValue
    }
  }

  /** A push to a branch that nothing follows is stored, and that is all. */
  async function deliver() {
    const repository = { full_name: 'team/site', clone_url: repositoryUrl }
    const push = aPush({ ref: 'refs/heads/other', repository })
    const { path, headers, body } = sent.github(push, { key: project.webhookSecret })
    const answer = await fetch(url + path, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`A push was answered ${answer.status}: ${await answer.text()}`)
  }
}

/** What a backup holds, by the key that is in it. */
async function open({
  file,
  passphrase,
  directory,
  environmentId,
}: {
  file: string
  passphrase: string | null
  directory: string
  environmentId: string
}) {
  const taken = join(directory, 'taken')
  mkdirSync(taken)
  await extract(file, { passphrase, directory: taken })
  const rows = verifyDatabase(join(taken, 'davit.db'))
  const secrets = openSecrets({ dataDir: taken, secretKey: null })
  const db = openExisting(join(taken, 'davit.db'))
  const [variable] = openVariables(db, secrets, environmentId)
  db.$client.close()
  return { deliveries: rows.deliveries!, secret: Number(variable!.value) }
}
