import type { z } from 'zod'
import type { Deployment } from '../../deployments/store.ts'
import type { DeploymentTrace } from '../../deployments/trace.ts'
import type { SendDeps } from '../../notifications/senders/sender.ts'
import { attributesOf, rejectedIn } from './otlp.ts'
import { hints, post } from './sender.ts'
import type { httpFields } from './sender.ts'

type Settings = z.output<z.ZodObject<ReturnType<typeof httpFields>>>

export type SentTrace = {
  project: { name: string }
  environment: { name: string }
  deployment: Pick<
    Deployment,
    'id' | 'number' | 'status' | 'errorCode' | 'branch' | 'refType' | 'commitHash' | 'trigger'
  >
  /** The address of its page. */
  page: string
  trace: Pick<DeploymentTrace, 'startedAt' | 'queued' | 'milliseconds' | 'spans'>
}

const path = '/v1/traces'

/** Sends the spans of a deployment: https://opentelemetry.io/docs/specs/semconv/cicd/cicd-spans/ */
export async function postTrace(deps: SendDeps, { url, ...login }: Settings, sent: SentTrace) {
  const { project, environment, deployment, page } = sent
  const spans = spansOf(sent)
  const receiver = { ...login, url: url.replace(/(\/v1\/logs)?$/, path) }
  const { json } = await post(deps, receiver, {
    ...{ title: 'The receiver', path },
    body: {
      resourceSpans: [
        {
          resource: {
            attributes: attributesOf({
              'service.name': project.name,
              'deployment.environment.name': environment.name,
              'cicd.pipeline.name': pipelineOf(sent),
              'cicd.pipeline.run.id': deployment.id,
              'cicd.pipeline.run.url.full': page,
              'vcs.ref.head.name': deployment.branch,
              'vcs.ref.head.type': deployment.branch && deployment.refType,
              'vcs.ref.head.revision': deployment.commitHash,
            }),
          },
          scopeSpans: [{ scope: { name: 'davit' }, spans }],
        },
      ],
    },
    reasonIn: ({ message }, text) => message ?? text,
    hints: { ...hints, ...Object.fromEntries([400, 413, 422].map((status) => [status, leftOut])) },
  })
  return rejectedIn(json, 'rejectedSpans', spans.length)
}

const leftOut = 'It refuses this trace, which is left out.'

const pipelineOf = ({ environment }: SentTrace) => `deploy ${environment.name}`

/** As the protocol numbers them. */
const kinds = { internal: 1, server: 2, client: 3 }
const failed = { code: 2 }

const results: Partial<Record<Deployment['status'], string>> = {
  failed: 'failure',
  cancelled: 'cancellation',
}

const taskTypes: Record<string, string> = { building: 'build', deploying: 'deploy' }

/** A root for the deployment from when it was queued, its steps, and the calls and waits within each step. */
function spansOf(sent: SentTrace) {
  const { deployment, trace } = sent
  const traceId = deployment.id.replaceAll('-', '')
  const zero = BigInt(Date.parse(trace.startedAt ?? new Date().toISOString())) * 1_000_000n
  const at = (milliseconds: number) => String(zero + BigInt(Math.round(milliseconds * 1e6)))
  const span = (index: number, start: number, end: number, parent: number | null) => ({
    traceId,
    spanId: idOf(deployment.id, index),
    ...(parent !== null && { parentSpanId: idOf(deployment.id, parent) }),
    startTimeUnixNano: at(start),
    endTimeUnixNano: at(end),
  })
  const isFailed = deployment.status === 'failed'
  const root = {
    ...span(0, -trace.queued, trace.milliseconds, null),
    name: `RUN ${pipelineOf(sent)}`,
    kind: kinds.server,
    attributes: attributesOf({
      'cicd.pipeline.result': results[deployment.status] ?? 'success',
      'error.type': isFailed ? deployment.errorCode : null,
      'davit.deployment.number': deployment.number,
      'davit.deployment.trigger': deployment.trigger,
    }),
    ...(isFailed && { status: failed }),
  }
  let step = 0
  const others = trace.spans.map((one, index) => {
    const { kind, name, detail, start, milliseconds, count } = one
    const isStep = kind === 'step'
    if (isStep) step = index + 1
    const isCall = kind === 'docker' || kind === 'git' || kind === 'edge'
    return {
      ...span(index + 1, start, start + milliseconds, isStep ? 0 : step),
      name: isCall ? `${kind} ${name}` : name,
      kind: isCall ? kinds.client : kinds.internal,
      attributes: attributesOf({
        ...(isStep && {
          'cicd.pipeline.task.name': name,
          'cicd.pipeline.task.run.id': `${deployment.id}/${name}`,
          'cicd.pipeline.task.type': taskTypes[name] ?? null,
          'cicd.pipeline.task.run.result': one.failed ? 'failure' : 'success',
        }),
        'davit.span.detail': detail,
        'davit.span.count': count > 1 ? count : null,
      }),
      ...(one.failed && { status: failed }),
    }
  })
  return [root, ...others]
}

/** The same at each attempt, so that a receiver can tell that it has it. */
const idOf = (deploymentId: string, index: number) =>
  new Bun.CryptoHasher('sha256').update(`${deploymentId} ${index}`).digest('hex').slice(0, 16)
