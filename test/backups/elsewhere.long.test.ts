import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listTargets } from '../../src/backups/targets/store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { pinTo } from '../../src/runtime/pins.ts'
import { idle, made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { serverId, storeServers } from '../support/servers.ts'

// The other server is this machine’s engine, too: its volumes are read and written as those of any other.

const second = serverId(2)
const signal = new AbortController().signal

const fill = `cd /data && mkdir -p deep/${'d'.repeat(120)} && echo all >deep/${'d'.repeat(120)}/${'f'.repeat(120)} &&
echo odd >'a name, with "quotes"' && ln -s deep link && ln 'a name, with "quotes"' twice &&
chmod 640 twice && chown 1234:4321 deep && chmod 2750 deep && chmod 1777 /data && : >empty`

const look = `cd /data && find . | sort | while IFS= read -r one; do stat -c '%A %u %g %s %N' "$one"; [ -f "$one" ] && cat "$one"; done; stat -c %h twice`

async function aService() {
  const path = mkdtempSync(join(tmpdir(), 'davit-target-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const docker = connectDocker({ host: process.env.DOCKER_HOST, serverId: second })
  const env = { DAVIT_RESTIC_IMAGE: await ensureRestic('0.18') }
  const t = testApp(env, { otherEngines: [docker] })
  const root = t.logInAsAdmin()
  const file = `
services:
  one: { ${idle}, volumes: ["data:/data"] }
volumes: { data: {} }
`
  const service = await made(t, root, file)
  storeServers(t.db, [{}, {}])
  await root.post('/settings/targets', { kind: 'directory', name: 'disk', path })
  const [target] = listTargets(t.db, root.user.id)
  await (await t.deps.openRestic(target!)).prepare({ signal })
  const run = async (script: string) => {
    const [{ id } = { id: '' }] = await t.docker.listContainers({
      labels: [`davit.service=${service.id}`],
    })
    const { exitCode, output } = await t.docker.runInContainer(id, {
      ...{ command: ['sh', '-c', script], env: {}, signal },
    })
    expect([exitCode, exitCode === 0 ? '' : output]).toEqual([0, ''])
    return output
  }
  return { t, root, service, targetId: target!.id, run }
}

test('what is on another server is backed up, proven and restored with its owners, modes and names', async () => {
  const { t, root, service, targetId, run } = await aService()
  await run(fill)
  const before = await run(look)
  pinTo(t.db, { id: service.id, kind: 'service' }, second)
  const { json } = await root.post(`/services/${service.id}/backups`, { targetId })
  await t.jobs.idle()
  const backup = (await root.get(`/backups/${json.id}`)).json
  expect([backup.status, backup.error]).toEqual(['succeeded', null])
  expect(backup.files).toMatchObject([{ file: 'volumes', volumes: ['data'] }])
  await root.post(`/backups/${json.id}/prove`)
  await t.jobs.idle()
  expect((await root.get(`/backups/${json.id}`)).json.proven).toMatchObject({ error: null })

  await run('rm -r /data/* && echo other >/data/other')
  await root.post(`/backups/${json.id}/restore`, { backupFirst: false })
  await t.jobs.idle()
  const { restore } = (await root.get(`/backups/${json.id}`)).json
  expect([restore.status, restore.error]).toEqual(['succeeded', null])
  expect(await run(look)).toBe(before)
}, 200_000)
