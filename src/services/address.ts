import type { Config } from '../config.ts'
import { urlOn } from '../environments/json.ts'
import type { ServicePort } from './store.ts'

type Places = Pick<Config, 'publishAddress' | 'url'>

/** Where an instance is reached: the first of its ports. Null when it publishes none. */
export const addressOf = (config: Places, ports: ServicePort[]) => {
  const first = ports.find(({ protocol }) => protocol === 'tcp')
  return first ? urlOn(first.port, config) : null
}

/** What every template may mention without declaring it: the address that its users will type. */
export function builtIns(config: Places, ports: ServicePort[]): Map<string, string> {
  const url = addressOf(config, ports) ?? ''
  return new Map([
    ['DAVIT_URL', url],
    ['DAVIT_HOST', url === '' ? '' : new URL(url).hostname],
  ])
}
