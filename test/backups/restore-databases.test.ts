import { expect, test } from 'bun:test'
import { Readable } from 'node:stream'
import { away } from './simulated-restic.ts'
import { aDatabase } from './simulated-tools.ts'

type Scene = Awaited<ReturnType<typeof aDatabase>>

async function restore({ ada, t, id, restoreOf }: Scene) {
  const { status, text } = await ada.post(`/backups/${id}/restore`, { backupFirst: false })
  if (status !== 200) throw new Error(text)
  await t.jobs.idle()
  return restoreOf().status
}

/** What the target has in place of what was stored. */
const harms: [string, (scene: Scene) => Buffer][] = [
  ['less', ({ dump }) => dump.subarray(0, 5)],
  ['other', () => Buffer.from('DROP DATABASE app;')],
]

const engines = [
  ['mysql', []],
  ['mongodb', []],
  ['postgresql', ['load', 'undo']],
  ['redis', ['load', 'undo']],
] as const

for (const [engine, expected] of engines)
  test.each(harms)(
    `of ${engine}, a load that first removes the old data doesn’t begin while the target has %s data`,
    async (_, harm) => {
      const scene = await aDatabase(engine)
      const bytes = harm(scene)
      scene.restic.faults.read = async ({ to, signal }) => {
        await to(Readable.from([bytes]), signal)
        if (bytes.length < scene.dump.length) throw away()
      }
      expect(await restore(scene)).toBe('failed')
      expect(scene.runs).toEqual([...expected])
    },
  )

test.each(engines.map(([engine]) => engine))('a whole dump of %s is loaded', async (engine) => {
  const scene = await aDatabase(engine)
  expect(await restore(scene)).toBe('succeeded')
  expect(scene.runs).toEqual(['load'])
})
