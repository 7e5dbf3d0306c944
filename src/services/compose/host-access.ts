import { posix } from 'node:path'
import type { Danger } from './dangers.ts'
import { danger } from './dangers.ts'
import type { Field } from './field.ts'
import type { HostNamespace, Profile, Service } from './model.ts'

export function hostAccessOf(service: Field, name: string) {
  const privileged = service.get('privileged').or(false, (field) => field.flag())
  const hostNamespaces = [
    ...namespaceOf(service.get('network_mode'), 'network', ['bridge', 'default']),
    ...namespaceOf(service.get('pid'), 'pid', []),
    ...namespaceOf(service.get('ipc'), 'ipc', ['private', 'shareable']),
  ]
  const unconfined = service.get('security_opt').atMost(20).items().flatMap(unconfinedOf)
  const devices = service.get('devices').items().map(deviceOf)
  const dangers = [
    ...(privileged ? [danger(name, 'privileged', '')] : []),
    ...hostNamespaces.map((namespace) => danger(name, 'host_namespace', namespace)),
    ...unconfined.map((profile) => danger(name, 'unconfined', profile)),
    ...devices.map(({ host }) => danger(name, 'device', host)),
  ]
  return { privileged, hostNamespaces, unconfined, devices, dangers }
}

function namespaceOf(field: Field, namespace: HostNamespace, own: string[]): HostNamespace[] {
  if (field.absent || own.includes(field.text('host'))) return []
  if (field.text() === 'host') return [namespace]
  throw field.refuse('isn’t supported, because each container has its own. Remove it.')
}

function unconfinedOf(field: Field): Profile[] {
  const [option, value = 'true'] = field.text('an option').split(/[:=]/)
  if (option === 'no-new-privileges' && value === 'true') return []
  if ((option === 'seccomp' || option === 'apparmor') && value === 'unconfined') return [option]
  if (option !== 'label' && option !== 'no-new-privileges')
    throw field.refuse('isn’t supported, because containers keep Docker’s own profiles. Remove it.')
  field.note('is ignored. Containers keep their label, and never gain privileges.')
  return []
}

function deviceOf(field: Field) {
  const [host = '', path = host, permissions = 'rwm', rest] = field.text('a device').split(':')
  const good = [host, path].every((part) => /^\/dev\/[\w/.-]+$/.test(part) && !/\/\.\./.test(part))
  if (!good || rest !== undefined || !/^[rwm]{1,3}$/.test(permissions))
    throw field.refuse('must be a device such as /dev/dri:/dev/dri.')
  return { host: posix.normalize(host), path: posix.normalize(path), permissions }
}

/**
 * Finds binds within other binds. Docker follows links when it mounts, so anyone who can write to the outer
 * one chooses what the inner one is. This gains nothing if the outer one is the whole disk.
 */
export function nestedBindsOf(services: Iterable<Pick<Service, 'name' | 'binds'>>): Danger[] {
  const all = [...services].flatMap(({ name, binds }) =>
    binds.map(({ source, readOnly }) => ({ name, readOnly, source: source.replace(/\/+$/, '') })),
  )
  const outer = all.filter(({ source, readOnly }) => source !== '' && !readOnly)
  return all
    .filter((inner) => outer.some(({ source }) => inner.source.startsWith(`${source}/`)))
    .map(({ name, source }) => danger(name, 'nested_path', source))
}
