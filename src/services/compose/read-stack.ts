import { configsOf } from './configs.ts'
import type { Outside, ReadOptions } from './environment.ts'
import { Field } from './field.ts'
import { quote } from './field.ts'
import type { Service, Stack } from './model.ts'
import { normalPath, volumeName } from './mounts.ts'
import { networksOf } from './networks.ts'
import { refuseSharedPorts } from './ports.ts'
import { serviceOf } from './read-service.ts'
import { replicasOf } from './running.ts'
import { nestedBindsOf } from './host-access.ts'
import { shareAmong } from './sharing.ts'
import type { Source, Tree } from '../../platform/yaml-source.ts'
import { adviceOn } from './unsupported.ts'
import { settleVolumes } from './volume-names.ts'

const maxServices = 50
/** One file may be mounted many times, and all copies are written when a container is created. */
const maxFileSize = 8 * 1024 * 1024

/**
 * Normalises the file's services, whose variables are already expanded. Throws `invalid` for the first key
 * that is unsupported or has an invalid value; `x-…` keys are ignored.
 */
export function readStack(tree: Tree, source: Source, given: ReadOptions = {}): Stack {
  const root = new Field(tree, [], source)
  if (!root.isMap) throw root.refuse('This must have keys at the top level, at least services.')
  root.only(['services', 'volumes', 'networks', 'configs', 'secrets', 'name', 'version'], adviceOn)
  const givenFiles = new Map(
    [...(given.files ?? [])].map(([path, text]) => [normalPath(path), text]),
  )
  const outside: Outside = {
    files: givenFiles,
    expanded: given.expanded ?? new Set(),
    lookup: given.lookup ?? (() => undefined),
    foreign: given.foreign ?? false,
    repository: given.repository ?? null,
  }
  const around = {
    ...outside,
    volumes: volumesOf(root.get('volumes')),
    networks: networksOf(root.get('networks')),
    configs: configsOf(root.get('configs'), outside),
    secrets: configsOf(root.get('secrets'), outside),
  }
  const entries = root.get('services')
  const found = entries
    .entries()
    .map(([name, field]) => ({ name, field, replicas: replicasOf(field, outside.repository) }))
    .filter(({ replicas }) => replicas > 0)
    .map(({ name, field, replicas }) => serviceOf(name, field, { ...around, replicas }))
  if (found.length === 0) throw root.refuse('This has no services. Add one under services.')
  if (found.length > maxServices) throw entries.refuse(`can be at most ${maxServices}. Split them.`)

  const services = new Map(found.map(({ service }) => [service.name, service]))
  for (const service of services.values()) settleDependencies(service, services, entries)
  const shared = shareAmong(services)
  settleVolumes(services.values())
  refuseSharedPorts([...services.values()], entries)
  for (const { name, readOnly, files } of services.values())
    if (readOnly && files.length > 0)
      throw entries
        .get(name)
        .get('read_only')
        .refuse('keeps Davit from writing the files that it mounts. Remove it.')
  const files = [...services.values()].flatMap((service) => service.files)
  if (files.reduce((sum, { content }) => sum + content.length, 0) > maxFileSize)
    throw entries.refuse(
      'mount files of more than 8 MiB in total. Put them into an image or a volume.',
    )
  return {
    name: root.get('name').or(null, (name) => name.text()),
    services,
    volumes: around.volumes,
    dangers: [
      ...found.flatMap(({ dangers }) => dangers),
      ...shared,
      ...nestedBindsOf(services.values()),
    ],
    notes: root.notes,
  }
}

/** Doesn't wait for services that have no container. */
function settleDependencies(service: Service, services: Map<string, Service>, entries: Field) {
  service.dependsOn = service.dependsOn.filter(({ service: name, required }) => {
    if (services.has(name) || !required) return true
    if (!entries.get(name).absent) return false
    const dependencies = entries.get(service.name).get('depends_on')
    throw dependencies.refuse(`uses ${name}, which isn’t a service of this file.`)
  })
}

/** Volumes are named after the instance: no external one can be used, and no driver chosen. */
const volumesOf = (field: Field): string[] =>
  field.entries().map(([name, volume]) => {
    if (!volumeName.test(name))
      throw volume.refuse(`has the name ${quote(name)}. Use letters, digits, _ . and -.`)
    for (const [, option] of volume.get('driver_opts').entries())
      if (!option.absent && option.value !== '')
        throw option.refuse('isn’t supported. Davit’s volumes are local.')
    volume.only(['name', 'labels', 'driver', 'driver_opts'], (key) =>
      key === 'external' ? 'A service has its own volumes.' : 'Davit’s volumes are local.',
    )
    volume.get('driver').or(null, (driver) => driver.oneOf(['local']))
    return name
  })
