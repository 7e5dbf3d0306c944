import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { report } from '../platform/journal.ts'
import { spanKinds, tracedCalls } from '../platform/trace.ts'
import type { Span, Trace } from '../platform/trace.ts'
import { onEngines } from '../runtime/on-engine.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import { component, id, time } from '../web/operation.ts'
import type { PipelineDeps } from './context.ts'
import { getTrace, saveTrace } from './trace-store.ts'
import type { Deployment } from './store.ts'

/** The same, with each call of Docker and git noted. */
export function traced(deps: PipelineDeps, trace: Trace): PipelineDeps {
  const engines = deps.engines.around((docker) =>
    tracedCalls(docker, trace, {
      kind: 'docker',
      lasting: ['attachContainer', 'containerLogs', 'events', 'waitForExit', 'waitForOutput'],
    }),
  )
  const git = tracedCalls(deps.git, trace, { kind: 'git', lasting: ['archive'] })
  return { ...deps, ...onEngines(engines, deps.serverList), trace, git }
}

type Stored = Pick<Trace, 'startedAt' | 'dropped' | 'spans'> & {
  queued: number
  milliseconds: number
}

const shownDetail = 100

/** What was remembered takes no time, and is no call. */
const isShown = ({ kind, milliseconds, failed }: Span) =>
  kind === 'step' || failed || milliseconds >= 0.1

/** Ends the trace, and stores it. That can fail: the deployment is what counts. */
export function keepTrace({ db }: { db: Db }, { id, createdAt }: Deployment, trace: Trace) {
  const milliseconds = rounded(trace.end())
  const { startedAt, spans, dropped } = trace
  const stored: Stored = {
    startedAt,
    queued: Math.max(0, startedAt - createdAt.getTime()),
    milliseconds,
    dropped,
    spans: spans.filter(isShown).map((span) => ({
      ...span,
      detail: shownImage(span.detail).slice(0, shownDetail),
      start: rounded(span.start),
      milliseconds: rounded(span.milliseconds),
    })),
  }
  try {
    saveTrace(db, id, Bun.zstdCompressSync(JSON.stringify(stored)))
  } catch (error) {
    report('the trace of a deployment was not stored', error, { deployment: id })
  }
}

export const deploymentTrace = component('DeploymentTrace', () =>
  z.object({
    deploymentId: id,
    /** False when only its steps are known: it is under way, or of an earlier version. */
    isComplete: z.boolean(),
    /** Null before it began. */
    startedAt: time.nullable(),
    /** Milliseconds that it was queued before; then from its start to its end. */
    queued: z.number(),
    milliseconds: z.number(),
    /** Milliseconds in which something of this kind was under way; `davit` is the rest. */
    totals: z.object({
      docker: z.number(),
      git: z.number(),
      edge: z.number(),
      wait: z.number(),
      davit: z.number(),
    }),
    spans: z.array(
      z.object({
        kind: z.enum(spanKinds),
        name: z.string(),
        detail: z.string().nullable(),
        /** Milliseconds since `startedAt`. */
        start: z.number(),
        milliseconds: z.number(),
        /** Calls that are shown as one. */
        count: z.int(),
        failed: z.boolean(),
      }),
    ),
    /** Calls that are left out, because there were too many. */
    dropped: z.int(),
  }),
)

export type DeploymentTrace = ReturnType<typeof traceOf>

/** What is known of where the time of a deployment went. */
export function traceOf(db: Db, deployment: Deployment) {
  const data = getTrace(db, deployment.id)
  const stored = data && readStored(data, deployment)
  const { startedAt, spans, ...known } = stored ?? stepsOnly(deployment)
  return {
    deploymentId: deployment.id,
    isComplete: stored !== null,
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    ...known,
    totals: totalsOf(spans, known.milliseconds),
    spans: spans.map(({ detail, ...span }) => ({ ...span, detail: detail || null })),
  }
}

/** Null when it is damaged. */
function readStored(data: Buffer, { id }: Deployment) {
  try {
    const stored: Stored = JSON.parse(Bun.zstdDecompressSync(data).toString())
    return { ...stored, spans: [...stored.spans] } // throws without any
  } catch (error) {
    report('the trace of a deployment is damaged', error, { deployment: id })
    return null
  }
}

function stepsOnly({ steps, createdAt, finishedAt, errorStep }: Deployment) {
  const end = finishedAt?.getTime() ?? Date.now()
  const startedAt = steps[0] ? Date.parse(steps[0].startedAt) : null
  const from = startedAt ?? end
  const spans = steps.map(({ name, ...step }): Span => {
    const start = Date.parse(step.startedAt)
    const until = step.finishedAt ? Date.parse(step.finishedAt) : end
    const failed = name === errorStep
    const of = { kind: 'step' as const, name, detail: '', count: 1, failed }
    return { ...of, start: start - from, milliseconds: until - start }
  })
  const queued = Math.max(0, from - createdAt.getTime())
  return { startedAt, queued, milliseconds: end - from, dropped: 0, spans }
}

/** What is under way at the same time counts once for its kind. */
function totalsOf(spans: Span[], milliseconds: number) {
  const others = spans.filter(({ kind }) => kind !== 'step' && kind !== 'davit')
  const of = (kind: Span['kind']) => covered(others.filter((span) => span.kind === kind))
  const davit = Math.max(0, rounded(milliseconds - covered(others)))
  return { docker: of('docker'), git: of('git'), edge: of('edge'), wait: of('wait'), davit }
}

/** Milliseconds in which at least one of them, sorted by their starts, was under way. */
function covered(spans: Span[]) {
  let [sum, until] = [0, 0]
  for (const { start, milliseconds } of spans) {
    const end = start + milliseconds
    sum += Math.max(0, end - Math.max(start, until))
    until = Math.max(until, end)
  }
  return rounded(sum)
}

/** To tenths, as they are small. */
const rounded = (milliseconds: number) => Math.round(milliseconds * 10) / 10
