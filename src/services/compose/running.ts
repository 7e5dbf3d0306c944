import type { RestartPolicy } from '../../docker/index.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'

/** Only limits the count; one container runs. */
const maxReplicas = 1000

/** False for a service without a container, with a note that says why. */
export function isRun(service: Field): boolean {
  const profiles = service.get('profiles').oneOrMore()
  if (profiles.some((profile) => profile.text() !== '')) {
    service.note('isn’t run, because it has profiles. Remove them to run it.')
    return false
  }
  const isAny = (field: Field) => field.number({ min: 0, max: maxReplicas }) > 0
  const replicas = service.get('deploy').get('replicas')
  const asked = replicas.absent ? service.get('scale') : replicas
  if (asked.or(true, isAny)) {
    if (asked.or('1', (field) => field.text()) !== '1')
      asked.note('is treated as 1. Davit runs one container of it.')
    return true
  }
  service.note('isn’t run, because its replicas are 0.')
  return false
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
