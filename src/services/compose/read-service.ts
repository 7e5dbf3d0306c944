import { containerLimits } from '../../platform/limits.ts'
import type { Danger } from './dangers.ts'
import { danger } from './dangers.ts'
import { buildOf } from './build.ts'
import { configFilesOf } from './configs.ts'
import { environmentOf, labelsOf } from './environment.ts'
import type { Outside } from './environment.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'
import { healthOf } from './health.ts'
import { hostAccessOf } from './host-access.ts'
import { capabilitiesOf, logsOf, resourcesOf, sysctlsOf, ulimitsOf } from './limits.ts'
import type { Service, Dependency } from './model.ts'
import { mountsOf, pathIn, tmpfsOf } from './mounts.ts'
import { aliasesOf, dnsName } from './networks.ts'
import { exposeOf, portsOf } from './ports.ts'
import { restartOf } from './running.ts'
import { linksOf, volumesFromOf } from './sharing.ts'
import { splitWords } from '../../platform/shell-words.ts'
import { bytesOf, durationOf } from './units.ts'
import { adviceOn, ignoredInRepository, ignoredOf } from './unsupported.ts'
import { conditions } from '../../runtime/component.ts'

/** `files` are by normalised path. */
export type Surroundings = Outside & {
  volumes: string[]
  networks: string[]
  configs: Map<string, string>
  secrets: Map<string, string>
}

const serviceKeys = [
  'image',
  'environment',
  'volumes',
  'ports',
  'depends_on',
  'command',
  'restart',
  'healthcheck',
  'expose',
  'entrypoint',
  'hostname',
  'env_file',
  'user',
  'labels',
  'networks',
  'container_name',
  'logging',
  'platform',
  'cap_add',
  'cap_drop',
  'ulimits',
  'shm_size',
  'extra_hosts',
  'working_dir',
  'stop_signal',
  'stop_grace_period',
  'sysctls',
  'read_only',
  'tmpfs',
  'init',
  'mem_limit',
  'cpus',
  'pids_limit',
  'deploy',
  'configs',
  'secrets',
  'links',
  'volumes_from',
  'profiles',
  'scale',
  // Read, and kept for an admin to allow.
  'privileged',
  'network_mode',
  'pid',
  'ipc',
  'devices',
  'security_opt',
]

export function serviceOf(
  name: string,
  field: Field,
  around: Surroundings & { replicas: number },
): { service: Service; dangers: Danger[] } {
  if (!dnsName.test(name))
    throw field.refuse(`has the name ${quote(name)}. Use letters, digits, _ . and -.`)
  if (!field.isMap) throw field.refuse('must have keys below it, at least image.')
  field.only(
    around.repository ? [...serviceKeys, 'build'] : serviceKeys,
    adviceOn,
    around.repository ? ignoredInRepository : ignoredOf(field),
  )
  const get = (key: string) => field.get(key)
  const path = (f: Field) => pathIn(f, f.text('a path in the container'))

  const mounts = mountsOf(get('volumes').atMost(50), {
    service: name,
    declared: around.volumes,
    files: around.files,
    foreign: around.foreign,
    repository: around.repository,
  })
  const build = buildOf(get('build'), around)
  const added = capabilitiesOf(get('cap_add'), name)
  const hosts = extraHostsOf(get('extra_hosts').atMost(100), name)
  const access = hostAccessOf(field, name)
  const containerName = get('container_name').or(null, (f) => f.matching(dnsName, 'a name'))
  const links = linksOf(get('links'))
  const volumesFrom = volumesFromOf(get('volumes_from'))
  const aliases = aliasesOf(get('networks'), around.networks)
  const service: Service = {
    name,
    image: build ? '' : imageOf(get('image')),
    build,
    replicas: around.replicas,
    command: get('command').or(null, (f) => bounded(f, commandOf(f))),
    entrypoint: get('entrypoint').or(null, (f) => bounded(f, commandOf(f))),
    environment: environmentOf(get('environment'), get('env_file'), around),
    ports: portsOf(get('ports'), { isPublished: !around.repository }),
    expose: exposeOf(get('expose').atMost(1000)),
    volumes: mounts.volumes,
    tmpfs: [...mounts.tmpfs, ...get('tmpfs').atMost(50).oneOrMore().map(tmpfsOf)],
    files: [
      ...mounts.files,
      ...configFilesOf(get('configs'), around.configs, ''),
      ...configFilesOf(get('secrets'), around.secrets, '/run/secrets'),
    ],
    dependsOn: dependenciesOf(get('depends_on'), [...links, ...volumesFrom]),
    links,
    volumesFrom,
    health: healthOf(get('healthcheck')),
    labels: labelsOf(get('labels')),
    aliases: [...(containerName ? [containerName] : []), ...aliases],
    hostname: get('hostname').or(null, (f) =>
      f.value === '' ? null : f.matching(dnsName, 'a host name'),
    ),
    user: get('user').or(null, (f) => f.matching(/^[\w.-]{1,64}(:[\w.-]{1,64})?$/, 'user:group')),
    workingDir: get('working_dir').or(null, (f) => (f.value === '/' ? '/' : path(f))),
    platform: get('platform').or(null, (f) =>
      f.matching(/^[a-z0-9]+\/[a-z0-9_]+(\/[a-z0-9]+)?$/, 'a platform such as linux/amd64'),
    ),
    restart: restartOf(field),
    stopSignal: get('stop_signal').or(null, (f) =>
      f.matching(/^((SIG)?[A-Z][A-Z0-9+-]{1,12}|\d{1,2})$/, 'a signal such as SIGINT'),
    ),
    stopTimeout: get('stop_grace_period').or(null, (f) =>
      Math.ceil(durationOf(f, { max: containerLimits.stopTimeout * 1000 }) / 1000),
    ),
    init: get('init').or(null, (f) => f.flag()),
    readOnly: get('read_only').or(false, (f) => f.flag()),
    capAdd: added.names,
    capDrop: capabilitiesOf(get('cap_drop'), name).names,
    ulimits: ulimitsOf(get('ulimits')),
    sysctls: sysctlsOf(get('sysctls')),
    extraHosts: hosts.entries,
    shmBytes: get('shm_size').or(null, bytesOf),
    ...resourcesOf(get),
    logs: logsOf(get('logging')),
    privileged: access.privileged,
    hostNamespaces: access.hostNamespaces,
    unconfined: access.unconfined,
    binds: mounts.binds,
    devices: access.devices,
  }
  return {
    service,
    dangers: [...access.dangers, ...mounts.dangers, ...added.dangers, ...hosts.dangers],
  }
}

/** A script belongs in a mounted file, not in a command line that every list shows. */
function bounded(field: Field, words: string[]) {
  if (words.reduce((sum, word) => sum + word.length, 0) <= containerLimits.listed) return words
  throw field.refuse(`must be at most ${containerLimits.listed / 1024} KiB. Mount it as a file.`)
}

const imageHost = /^([a-zA-Z0-9]+([.-]+[a-zA-Z0-9]+)*(:\d{1,5})?\/)?/.source
const imageName = /[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*/.source
const imageVersion = /(:\w[\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/.source
const imageReference = new RegExp(imageHost + imageName + imageVersion)

function imageOf(field: Field) {
  const what = 'an image such as postgres:17 or ghcr.io/owner/name:1.2'
  return field.matching(imageReference, what)
}

function extraHostsOf(field: Field, service: string) {
  const pairs = field.isMap
    ? field.entries().map(([host, item]) => [host, item.text('an address'), item] as const)
    : field.items().map((item) => {
        const [, host = '', address = ''] = /^([^:=]+)[:=](.+)$/.exec(item.text()) ?? []
        return [host, address, item] as const
      })
  const dangers: Danger[] = []
  const entries = pairs.map(([host, address, item]) => {
    if (
      !dnsName.test(host) ||
      !/^([0-9a-fA-F:.]{2,45}|\[[0-9a-fA-F:]+\]|host-gateway)$/.test(address)
    )
      throw item.refuse('must be a name and an address, such as db:10.0.0.5.')
    if (address === 'host-gateway') dangers.push(danger(service, 'host_gateway', host))
    return `${host}:${address}`
  })
  return { entries, dangers }
}

const commandOf = (field: Field) =>
  field.isList
    ? field.items().map((item) => item.text())
    : splitWords(field.text('a command'), (problem) => field.refuse(problem))

/** Includes the services that `links` and `volumes_from` name. */
function dependenciesOf(field: Field, others: { service: string }[]): Dependency[] {
  const said = field.isMap ? field.entries().map(longForm) : field.items().map(started)
  const implied = new Set(others.map(({ service }) => service))
  for (const { service } of said) implied.delete(service)
  return [...said, ...[...implied].map(startedFirst)]
}

const startedFirst = (service: string): Dependency => ({
  service,
  condition: 'service_started',
  restart: false,
  required: true,
})

const started = (item: Field) => startedFirst(item.text('a service'))

function longForm([service, entry]: [string, Field]): Dependency {
  entry.only(['condition', 'restart', 'required'])
  return {
    service,
    condition: entry.get('condition').or('service_started', (c) => c.oneOf(conditions)),
    restart: entry.get('restart').or(false, (r) => r.flag()),
    required: entry.get('required').or(true, (r) => r.flag()),
  }
}
