import type { Service, Stack } from './model.ts'
import { isOneShot } from './model.ts'

/** The usual names of a service that people visit, the most telling first. */
const usual = [
  'web',
  'app',
  'frontend',
  'front',
  'www',
  'nginx',
  'caddy',
  'proxy',
  'site',
  'ui',
  'server',
  'api',
]

/**
 * Finds the service that has the addresses: the one that publishes a port, else exposes one, else any. Of
 * several it is the only one that is built, else the one with the most usual name.
 */
export function chooseWeb(stack: Pick<Stack, 'services'>, asked: string | null) {
  const running = [...stack.services.values()].filter(({ name }) => !isOneShot(stack, name))
  const groups = [
    running.filter(({ ports }) => ports.some(isTcp)),
    running.filter(({ expose }) => expose.length > 0),
    running,
  ]
  const choices = groups.find((group) => group.length > 0) ?? []
  const web = asked === null ? oneOf(choices) : (running.find(({ name }) => name === asked) ?? null)
  return {
    web: web?.name ?? null,
    choices: choices.map(({ name }) => name),
    port: web ? (web.ports.find(isTcp)?.container ?? web.expose[0] ?? null) : null,
    notes: running.flatMap(({ name, ports }) =>
      name === web?.name ? notesOnWeb(ports) : notesOn(name, ports),
    ),
  }
}

const isTcp = ({ protocol }: Service['ports'][number]) => protocol === 'tcp'

function oneOf(services: Service[]): Service | null {
  const built = services.filter(({ build }) => build !== null)
  const named = usual.flatMap((name) => services.find((service) => service.name === name) ?? [])
  return (services.length === 1 ? services[0] : built.length === 1 ? built[0] : named[0]) ?? null
}

const notesOnWeb = (ports: Service['ports']) =>
  ports.length > 1
    ? [`Of the ports of the service with the addresses, only the first TCP one is reached there.`]
    : []

const notesOn = (name: string, [first]: Service['ports']) =>
  first
    ? [`services.${name}.ports are not published. Other services reach ${name}:${first.container}.`]
    : []
