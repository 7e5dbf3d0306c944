import { z } from 'zod'
import type { Config } from '../config.ts'
import type { LogDb } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { drains } from '../db/schema.ts'
import { ofEnvironment } from '../environments/parent.tsx'
import type { HeadDeps } from '../environments/head.ts'
import { ownEnvironment } from '../environments/own-environment.ts'
import { noOrigin } from '../logs/block.ts'
import { asTested, SendFailure } from '../notifications/senders/sender.ts'
import type { Secrets } from '../platform/secrets.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { unsealed } from '../resources/store.ts'
import { kindForm } from '../web/kind-form.ts'
import { flagField, lineField } from '../web/labelled-fields.ts'
import { nothing, time } from '../web/operation.ts'
import { Ago } from '../web/times.tsx'
import { counted } from '../web/units.ts'
import type { Drains } from './drains.ts'
import { progressOf, progressOfTraces } from './progress.ts'
import { sendDepsOf } from './send-batch.ts'
import { refuseToken } from './senders/sender.ts'
import { usesTls } from './senders/syslog.ts'
import { sealed, senders, sendLines, sendSpans } from './senders/index.ts'

type Deps = HeadDeps & {
  config: Config
  logDb: LogDb
  secrets: Secrets
  drains: Pick<Drains, 'changed'>
}

const columns = [
  ...(['environmentId', 'name', 'kind', 'requests', 'traces', 'url', 'username'] as const),
  ...(['host', 'port', 'tls', 'endpoint', 'bucket', 'region', 'prefix', 'accessKey'] as const),
] as const

const counts = () => ({
  sent: z.int(),
  waiting: z.int(),
  dropped: z.int(),
  sentAt: time.nullable(),
})
const problem = () => z.object({ message: z.string(), hint: z.string(), at: time }).nullable()

/** Sends the log of an environment to where logs of other software are. */
export const drain = resource({
  kind: 'drain',
  noun: 'log drain',
  plural: 'log drains of an environment',
  path: '/envs/:envId/drains',
  title: 'Log drains',
  part: 'Environments',
  table: drains,
  owner: drains.environmentId,
  parent: ofEnvironment('logs'),
  most: 'drains',
  sealed,
  sentTo: ['url', 'endpoint'],
  json: rowJson('Drain', drains, columns, () => ({
    ...counts(),
    problem: problem(),
    /** Null where none are sent. */
    ofTraces: z.object({ ...counts(), problem: problem() }).nullable(),
  })),
  about: (
    <>
      New lines of this environment’s log are also sent to its log drains, within seconds. See{' '}
      <a href="/docs/drains">what is sent</a>.
    </>
  ),
  empty: 'Create one to search these lines beside those of other software, or to keep them longer.',
  see: ({ db, logDb }: Deps, row) => ({
    ...{ ...row, ...progressOf(logDb, row) },
    tls: row.kind === 'syslog' ? usesTls(row.tls) : row.tls,
    ofTraces: progressOfTraces(db, logDb, row),
  }),
  row: ({ name, sentAt, waiting, dropped, problem, ofTraces, ...row }) => ({
    name,
    badge: (problem ?? ofTraces?.problem) && 'failing',
    facts: [
      <bdi>
        {row.host ? `${row.host}:${row.port}` : (row.url ?? `${row.endpoint}/${row.bucket}`)}
      </bdi>,
      sentAt ? ['last sent ', <Ago at={sentAt} />] : 'nothing sent yet',
      waiting > 0 && `${counted(waiting, 'line')} waiting`,
      dropped > 0 && `${counted(dropped, 'line')} left out`,
      ofTraces && `${counted(ofTraces.sent, 'trace')} sent`,
      ofTraces && ofTraces.waiting > 0 && `${counted(ofTraces.waiting, 'trace')} waiting`,
      ofTraces && ofTraces.dropped > 0 && `${counted(ofTraces.dropped, 'trace')} left out`,
    ],
    below: [problem, ofTraces?.problem].map(
      (one) =>
        one && (
          <p class="muted">
            {one.message} {one.hint} Tried <Ago at={one.at} />.
          </p>
        ),
    ),
  }),
  create: {
    verb: 'Create',
    form: ({ config }) =>
      kindForm(
        config,
        {
          name: lineField('Name', { max: 60, placeholder: 'central logs' }),
          requests: flagField('Send requests too', {
            initial: '1',
            hint: 'A line for each request that Caddy served.',
          }),
        },
        senders,
      ),
    check: async (_, input) => refuseToken(input),
  },
  change: {},
  acts: {
    test: {
      button: 'Send test',
      note: 'Send a line to the log drain, and wait for its receiver',
      json: () => nothing,
      async run(deps, c, row) {
        const { environment, project } = ownEnvironment(deps, c)
        const to = unsealed(deps.secrets, { kind: 'drain', sealed }, row)
        const text = 'This is a test by Davit.'
        const test = { ...noOrigin, sequence: 0, time: Date.now(), stream: 'system' as const, text }
        const sender = sendDepsOf(deps, c.req.raw.signal)
        const limit = { deadline: testDeadline }
        const batch = { drainId: row.id, environment, project, lines: [test] }
        const none = { page: '', deployment: testDeployment(), trace: emptyTrace() }
        try {
          refuseRejected(await sendLines(sender, to, batch, limit))
          if (row.traces)
            refuseRejected(await sendSpans(sender, to, { project, environment, ...none }, limit))
        } catch (error) {
          throw asTested(error)
        }
        return {
          said: `The receiver accepted a test line${row.traces ? ' and a test trace' : ''}.`,
          json: () => ({}),
        }
      },
    },
  },
  remove: { verb: 'Delete', warning: 'Lines that wait aren’t sent.' },
  stored: ({ drains: all }) => all.changed(),
})

/** A receiver may accept a request, and none of what is in it. */
function refuseRejected({ rejected, reason }: Awaited<ReturnType<typeof sendLines>>) {
  if (rejected === 0) return
  const why = reason && `: ${reason}`
  const hint = 'Check the settings of the receiver.'
  throw new SendFailure('refused', `The receiver rejected the test${why}.`, hint, { retry: false })
}

/** Milliseconds for each: a request has little more. */
const testDeadline = 5000

const testDeployment = () => ({
  ...{ id: newId(), number: 0, status: 'running' as const, trigger: 'manual' as const },
  ...{ errorCode: null, branch: null, refType: null, commitHash: null },
})

const emptyTrace = () => ({
  ...{ startedAt: new Date().toISOString(), queued: 0, milliseconds: 0, spans: [] },
})
