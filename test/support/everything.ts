import { firstServer } from '../../src/platform/root.ts'
import { insertDomain } from '../../src/addresses/store.ts'
import { insertBackup } from '../../src/backups/store.ts'
import { insertIdentity } from '../../src/accounts/identity-store.ts'
import { insertSession } from '../../src/accounts/store.ts'
import { certificates, deliveries, outbox, registries } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { gitSource } from '../../src/git/git-source.tsx'
import { emit } from '../../src/notifications/emit.ts'
import { listEvents } from '../../src/notifications/store.ts'
import { insertOwned } from '../../src/resources/store.ts'
import { insertLink } from '../../src/links/store.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { insertRun } from '../../src/runs/store.ts'
import { insertService } from '../../src/services/store.ts'
import { sealValues } from '../../src/services/stored-definition.ts'
import { withContainer } from '../deployments/apps.ts'
import type { TestApp } from './app.ts'
import type { TestClient } from './client.ts'

export type Ids = Record<
  | 'project'
  | 'environment'
  | 'variable'
  | 'deployment'
  | 'run'
  | 'schedule'
  | 'freeze'
  | 'drain'
  | 'session'
  | 'token'
  | 'invite'
  | 'identity'
  | 'source'
  | 'delivery'
  | 'registry'
  | 'server'
  | 'target'
  | 'channel'
  | 'event'
  | 'backup'
  | 'service'
  | 'link'
  | 'domain'
  | 'user'
  | 'container',
  string
>

/** Someone with two environments, a variable, a deployment that ended with its container, a run that ended, and another session. */
export async function everything(t: TestApp, client: TestClient): Promise<Ids> {
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await client.post('/projects', { name: 'site', repositoryUrl })
  const { json: environment } = await client.post(`/projects/${project.id}/envs`, {
    name: 'second',
  })
  const variable = { key: 'KEY', value: 'value' }
  const { json: stored } = await client.post(`/envs/${environment.id}/variables`, variable)
  const deployment = insertDeployment(t.db, {
    projectId: project.id,
    environmentId: environment.id,
    status: 'failed',
    trigger: 'manual',
    triggeredBy: client.user.email,
    repositoryUrl,
    finishedAt: new Date(),
  })
  const run = insertRun(t.db, {
    environmentId: environment.id,
    deploymentId: deployment.id,
    startedBy: client.user.email,
    command: 'true',
    timeout: 60,
    status: 'succeeded',
    exitCode: 0,
    finishedAt: new Date(),
  })
  const nightly = { name: 'nightly', command: 'true', schedule: '0 3 * * *' }
  const { json: schedule } = await client.post(`/envs/${environment.id}/schedules`, nightly)
  const until = new Date(Date.now() + 300 * 86_400_000)
  const later = {
    from: new Date(until.getTime() - 86_400_000).toISOString(),
    until: until.toISOString(),
  }
  const { json: freeze } = await client.post(`/envs/${environment.id}/freezes`, {
    ...{ ...later, reason: 'the fair' },
  })
  const { json: drain } = await client.post(`/envs/${environment.id}/drains`, aDrain)
  const session = insertSession(t.db, {
    userId: client.user.id,
    tokenHash: crypto.randomUUID(),
    userAgent: 'another browser',
    address: '127.0.0.1',
    lastSeenAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  })
  const { json: token } = await client.post('/settings/tokens', { name: 'ci', scopes: ['read'] })
  const identity = insertIdentity(t.db, {
    userId: client.user.id,
    provider: 'github',
    baseUrl: 'https://github.com',
    providerUserId: client.user.id,
    login: 'someone',
    accessToken: 'sealed',
  })
  const account = { provider: 'github', baseUrl: 'https://git.example.com', login: 'someone' }
  const source = insertOwned(t, gitSource, {
    ownerId: client.user.id,
    values: { ...account, name: 'work', accessToken: 'a token' },
  })
  const login = { ownerId: client.user.id, host: 'registry.example.com', username: 'someone' }
  const registry = t.db
    .insert(registries)
    .values({ ...login, password: 'sealed' })
    .returning()
    .get()
  const bucket = { endpoint: 'https://s3.example.com', bucket: 'backups', accessKey: 'AKIA' }
  const { json: target } = await client.post('/settings/targets', {
    ...{ kind: 's3', name: 'offsite', ...bucket, secretKey: 'a secret' },
  })
  const chat = { kind: 'browser', name: 'here', events: ['deployment_failed'] }
  const { json: channel } = await client.post('/settings/channels', chat)
  emit(t.db, {
    ...{ kind: 'deployment_failed', level: 'failure', subject: 'site', href: '/projects' },
    ...{ title: 'Deployment #1 of site failed', text: 'It has no Dockerfile.' },
    ...{ ownerId: client.user.id, projectId: project.id },
  })
  t.db.update(outbox).set({ status: 'failed', answer: 'no page was open' }).run()
  const [event] = listEvents(t.db, { id: client.user.id, role: 'member' }, { limit: 1 })
  const serviceId = Bun.randomUUIDv7()
  const file = { template: 'compose', compose: 'services: {cache: {image: busybox}}' }
  const service = insertService(
    t.db,
    {
      id: serviceId,
      ownerId: client.user.id,
      name: 'cache',
      host: 'cache',
      version: '',
      status: 'stopped',
      ...file,
      ...sealValues(t, { id: serviceId, values: new Map(), file: { variables: new Map() } }),
    },
    [],
  )
  const backup = insertBackup(t.db, {
    ...{ ownerId: client.user.id, subjectKind: 'service', subjectId: serviceId },
    ...{ subjectName: 'cache', targetId: target.id, startedBy: client.user.email, hold: 'pause' },
    ...{ status: 'failed', errorCode: 'target_away', errorMessage: 'It failed.' },
  })
  const plan = { targetId: target.id, schedule: '0 3 * * *' }
  for (const path of [`/services/${serviceId}`, `/envs/${environment.id}`])
    await client.put(`${path}/backups/plan`, plan)
  const link = insertLink(t.db, {
    environmentId: environment.id,
    serviceId,
    variables: { CACHE_HOST: 'host' },
  })
  const domain = insertDomain(
    t.db,
    { environmentId: environment.id },
    { host: `${environment.id}.example.com` },
    t,
  )
  t.db.insert(certificates).values({ host: domain.host, status: 'failed' }).run()
  const delivery = t.db
    .insert(deliveries)
    .values({
      projectId: project.id,
      provider: 'github',
      deliveryId: crypto.randomUUID(),
      event: 'push',
      signatureOk: true,
    })
    .returning()
    .get()
  const container = await t.docker.createContainer({
    name: `test-${Bun.randomUUIDv7().slice(-12)}`,
    image: 'busybox:latest',
    command: ['sleep', '999'], // once started it stays as it is
    stopTimeout: 1,
    network: 'bridge',
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 64,
    labels: labelsFor({
      instanceId: t.instanceId,
      kind: 'app',
      ownerId: client.user.id,
      projectId: project.id,
      environmentId: environment.id,
      deploymentId: deployment.id,
    }),
  })
  withContainer(t.db, deployment, container)
  return {
    container,
    user: client.user.id,
    source,
    delivery: delivery.id,
    project: project.id,
    environment: environment.id,
    variable: stored.id,
    deployment: deployment.id,
    run: run.id,
    schedule: schedule.id,
    freeze: freeze.id,
    drain: drain.id,
    session: session.id,
    token: token.id,
    invite: Bun.randomUUIDv7(), // only an admin can have one
    identity: identity.id,
    registry: registry.id,
    server: firstServer,
    target: target.id,
    channel: channel.id,
    event: event!.id,
    backup: backup.id,
    service: service.id,
    link: link.id,
    domain: domain.id,
  }
}

const aDrain = { kind: 'syslog', name: 'central', host: '127.0.0.1', port: 514, tls: false }

/** The path with the ids of its parts; `id` says what stands at `:id`. */
export const fill = (path: string, ids: Ids, id: keyof Ids = 'project') =>
  path
    .replace(':envId', ids.environment)
    .replace(':deploymentId', ids.deployment)
    .replace(':deliveryId', ids.delivery)
    .replace(':sourceId', ids.source)
    .replace(':owner/:repo', 'team/site')
    .replace(/:id(\{[^/]*\})?/, ids[id])
    .replace(':template', 'redis')
    .replace(':name', 'security')

/** What stands at `:id` in a path. */
export function idOf(path: string): keyof Ids {
  if (path.startsWith('/envs/:envId/links')) return 'link'
  if (path.startsWith('/envs/:envId/schedules')) return 'schedule'
  if (path.startsWith('/envs/:envId/drains')) return 'drain'
  if (path.startsWith('/envs/:envId/freezes')) return 'freeze'
  if (path.includes('/runs/')) return 'run'
  if (path.startsWith('/domains/')) return 'domain'
  if (path.startsWith('/backups/')) return 'backup'
  if (path.startsWith('/envs/')) return 'variable'
  if (path.startsWith('/settings/git/')) return 'source'
  if (path.startsWith('/settings/registries/')) return 'registry'
  if (path.startsWith('/settings/servers/')) return 'server'
  if (path.startsWith('/settings/targets/')) return 'target'
  if (path.startsWith('/settings/channels/')) return 'channel'
  if (path.startsWith('/settings/events/')) return 'event'
  if (path.startsWith('/settings/users/')) return 'user'
  if (path.startsWith('/containers/')) return 'container'
  if (path.startsWith('/services/')) return 'service'
  if (path.startsWith('/settings/tokens/')) return 'token'
  if (path.startsWith('/settings/invites/')) return 'invite'
  if (path.startsWith('/settings/sessions/')) return 'session'
  if (path.startsWith('/settings/identities/')) return 'identity'
  return 'project'
}
