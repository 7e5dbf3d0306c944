import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ensureDatabaseImages } from '../support/machine.ts'
import { makeNotes } from './notes.ts'
import { ensureNotesImage } from './notes-image.ts'
import { setStage } from './stage.ts'

const say = console.error
const script = join(import.meta.dir, '../../assets/docs/app-with-database.mjs')

test('the script of one page deploys an app with its databases, and says where it runs', async () => {
  expect((await Bun.file(script).text()).trim().split('\n').length).toBeLessThanOrEqual(60)
  await ensureDatabaseImages({ say })
  await ensureNotesImage({ say })
  await using stage = await setStage({ signal: AbortSignal.timeout(200_000), failed() {} })
  const { davit, account, gitUrl, repositories, url } = stage
  stage.defer(() => davit.removeAll())
  const made = { name: 'script', scopes: ['write'], currentPassword: account.password }
  const { token } = await davit.post<{ token: string }>('/settings/tokens', made)

  const child = Bun.spawn([process.execPath, script, gitUrl + makeNotes(repositories).name], {
    env: { ...process.env, DAVIT_URL: url, DAVIT_TOKEN: token },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect([await child.exited, errors]).toEqual([0, ''])
  expect(output).toMatch(/^postgresql provides .*DATABASE_URL.*\nredis provides .*REDIS_URL.*\n/)
  const address = /^running (http\S+)$/m.exec(output)![1]!
  expect(await (await fetch(`${address}/notes`)).json()).toEqual([])
}, 240_000)
