import type { RestartPolicy } from '../../docker/index.ts'
import { processLimits } from '../../platform/limits.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'
import type { Repository } from './model.ts'

/** Only limits the count where one container runs. */
const maxReplicas = 1000

/** How many containers run: none with a note that says why, and at most one outside of a repository. */
export function replicasOf(service: Field, repository: Repository | null): number {
  const profiles = service
    .get('profiles')
    .oneOrMore()
    .map((profile) => profile.text())
    .filter((profile) => profile !== '')
  const isOn = (profile: string) =>
    ['*', profile].some((name) => repository?.profiles.includes(name))
  if (profiles.length > 0 && !profiles.some(isOn)) {
    service.note(
      repository
        ? `isn’t run. Set COMPOSE_PROFILES=${profiles[0]} among the variables to run it.`
        : 'isn’t run, because it has profiles. Remove them to run it.',
    )
    return 0
  }
  const field = service.get('deploy').get('replicas')
  const asked = field.absent ? service.get('scale') : field
  const max = repository ? processLimits.replicas : maxReplicas
  const replicas = asked.or(1, (count) => count.number({ min: 0, max }))
  if (replicas === 0) service.note('isn’t run, because its replicas are 0.')
  if (repository) return replicas
  if (replicas > 1) asked.note('is treated as 1. Davit runs one container of it.')
  return Math.min(replicas, 1)
}

/** The service's own setting, else that of `deploy`. */
export function restartOf(service: Field): RestartPolicy | null {
  const policy = service.get('deploy').get('restart_policy')
  policy.only(['condition', 'max_attempts', 'delay', 'window'])
  return service.get('restart').or(policy.or(null, ofDeploy), ofService)
}

function ofService(field: Field): RestartPolicy {
  const text = field.text('a policy')
  if (text === 'no' || text === 'false') return { name: 'no' }
  if (text === 'always' || text === 'unless-stopped') return { name: text }
  const failures = /^on-failure(?::(\d{1,4}))?$/.exec(text)
  if (failures) return { name: 'on-failure', maximumRetries: Number(failures[1] ?? 0) }
  throw field.refuse(`is ${quote(text)}, but must be no, always, unless-stopped or on-failure:5.`)
}

function ofDeploy(policy: Field): RestartPolicy {
  const condition = policy
    .get('condition')
    .or('any', (field) => field.oneOf(['any', 'always', 'on-failure', 'none'] as const))
  const attempts = policy.get('max_attempts').or(0, (field) => field.number({ min: 0, max: 9999 }))
  if (condition === 'none') return { name: 'no' }
  if (condition === 'on-failure') return { name: 'on-failure', maximumRetries: attempts }
  return { name: 'always' }
}
