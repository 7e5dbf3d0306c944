import { posix } from 'node:path'
import type { Danger } from './dangers.ts'
import { danger } from './dangers.ts'
import type { Field } from './field.ts'
import type { HostNamespace, Service } from './model.ts'

type HostAccess = Pick<Service, 'privileged' | 'hostNamespaces' | 'devices'> & { dangers: Danger[] }

/** What a service asks of the host itself; each is a danger too. */
export function hostAccessOf(service: Field, name: string): HostAccess {
  const privileged = service.get('privileged').or(false, (field) => field.flag())
  const hostNamespaces = [
    ...namespaceOf(service.get('network_mode'), 'network', []),
    ...namespaceOf(service.get('pid'), 'pid', []),
    ...namespaceOf(service.get('ipc'), 'ipc', ['private', 'shareable']),
  ]
  const devices = service.get('devices').items().map(deviceOf)
  const dangers = [
    ...(privileged ? [danger(name, 'privileged', '')] : []),
    ...hostNamespaces.map((namespace) => danger(name, 'host_namespace', namespace)),
    ...devices.map(({ host }) => danger(name, 'device', host)),
  ]
  return { privileged, hostNamespaces, devices, dangers }
}

function namespaceOf(field: Field, namespace: HostNamespace, own: string[]): HostNamespace[] {
  if (field.absent || own.includes(field.text('host'))) return []
  if (field.text() === 'host') return [namespace]
  throw field.refuse('is not supported. Remove it: each container has its own.')
}

function deviceOf(field: Field) {
  const [host = '', path = host, permissions = 'rwm', rest] = field.text('a device').split(':')
  const good = [host, path].every((part) => /^\/dev\/[\w/.-]+$/.test(part) && !/\/\.\./.test(part))
  if (!good || rest !== undefined || !/^[rwm]{1,3}$/.test(permissions))
    throw field.refuse('wants a device such as /dev/dri:/dev/dri.')
  return { host: posix.normalize(host), path: posix.normalize(path), permissions }
}
