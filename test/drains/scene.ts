import { deleteOldestBlock } from '../../src/logs/store.ts'
import { writeOutput } from '../logs/writing.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'

/** An environment of Ada's, or another user's, with a log drain; nothing is sent before `send`. */
export async function drained(
  body: Record<string, unknown> & { kind: string },
  t: TestApp = simulatedApp(),
  ada = withAda(t).ada,
) {
  const environment = await anEnvironment(t, ada)
  const path = `/envs/${environment.id}/drains`
  const made = await ada.post(path, { name: 'central', ...body })
  if (made.status !== 201) throw new Error(made.text)
  const one = `${path}/${made.json.id}`
  const log = { sourceId: environment.id, logId: '' }
  let written = 0
  return {
    ...{ t, ada, environment, path, one, made: made.json, log },
    /** Lines `line 1`, `line 2` and so on of a web process. */
    write(count: number, text = (n: number) => `line ${n}`, process = 'web') {
      const of = { sourceId: environment.id, deploymentId: Bun.randomUUIDv7(), name: 'c1', process }
      const lines = Array.from({ length: count }, () => ({
        ...{ time: Date.now(), stream: 'stdout' as const },
        text: text(++written),
      }))
      writeOutput(t, of, lines)
    },
    /** Sends what is due now, or so many milliseconds later. */
    async send({ later = 0, app = t }: { later?: number; app?: Pick<TestApp, 'drains'> } = {}) {
      app.drains.sendDue(Date.now() + later, { signal: new AbortController().signal })
      await app.drains.idle()
    },
    shown: async () => (await ada.get(one)).json,
    /** As when the log is longer than is stored. */
    forgetOldest() {
      const gone = deleteOldestBlock(t.logDb, log)
      t.logs.forget()
      return gone
    },
    texts: async () =>
      (await ada.get(`${environment.output}?limit=1000`)).json.items.map(
        ({ text }: { text: string }) => text,
      ) as string[],
  }
}

/** Later than any retry. */
export const later = 400_000
