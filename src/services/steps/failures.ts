import { killed } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import type { Made, ServiceRun } from '../run.ts'

/** Lines that a container which failed leaves in the hint. */
const lastLines = 8

/** Why a container that had to go on running did not. */
export async function endedFailure(run: ServiceRun, made: Made) {
  const container = await run.docker.inspectEnded(made.id)
  const { service, options } = made.plan
  const megabytes = Math.round(options.memoryBytes / 1024 / 1024)
  if (container?.oomKilled)
    return new Failure(
      'out_of_memory',
      `Starting: ${service} needed more than its ${megabytes} MB of memory, and was ended.`,
      'Give it more with mem_limit in its file, or let it need less.',
    )
  if (container?.exitCode === killed)
    return new Failure(
      'killed',
      `Starting: ${service} was killed (SIGKILL), but not for its memory limit.`,
      'Someone may have killed it (docker kill), or the server itself was out of memory: see its kernel log (journalctl -k), then start the service again.',
    )
  return new Failure(
    'exited',
    `Starting: ${service} ended with exit code ${container?.exitCode ?? 'unknown'}.`,
    await lastWords(run, made),
  )
}

/** Why a container that runs was given up. */
export async function unhealthyFailure(run: ServiceRun, made: Made) {
  const container = await run.docker.inspectContainer(made.id)
  const said = run.mask(container?.healthOutput?.trim() ?? '')
  return new Failure(
    'unhealthy',
    `Starting: the health check of ${made.plan.service} does not pass.`,
    `${said && `The health check says:\n${said}\n`}${await lastWords(run, made)}`,
  )
}

async function lastWords({ docker, mask }: ServiceRun, { id, plan }: Made) {
  const lines: string[] = []
  try {
    for await (const batch of docker.containerLogs(id, { tail: lastLines }))
      lines.push(...batch.map(({ text }) => text))
  } catch {
    // the failure in hand says more
  }
  if (lines.length === 0) return `${plan.service} wrote nothing. Check its variables.`
  return `Its last lines:\n${mask(lines.join('\n'))}`
}
