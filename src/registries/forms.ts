import { z } from 'zod'
import type { Config } from '../config.ts'
import { refusedHost } from '../platform/hosts.ts'
import { line } from '../web/fields.ts'

/** The port is part of it, as in an image reference. */
const hostAndPort = /^(?<name>[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:(?<port>\d{1,5}))?$/

/** A registry and who pulls there. */
export const registryForm = (config: Pick<Config, 'allowHosts'>) =>
  z.object({
    host: line('the host of a registry', { max: 255 })
      .transform((host) =>
        host
          .toLowerCase()
          .replace(/^https?:\/\//, '')
          .replace(/\/+$/, ''),
      )
      .superRefine((host, context) => {
        const refusal = refuse(host, config)
        if (refusal) context.addIssue({ code: 'custom', message: refusal })
      }),
    username: line('a user name', { max: 255 }).regex(/^[\x21-\x7e]+$/, 'wants no spaces.'),
    password: line('a password or token', { max: 4000 }),
  })

function refuse(host: string, { allowHosts }: Pick<Config, 'allowHosts'>) {
  const { name, port = '443' } = hostAndPort.exec(host)?.groups ?? {}
  if (!name || Number(port) < 1 || Number(port) > 65_535)
    return 'wants a host such as registry.example.com or registry.example.com:5000.'
  return refusedHost(name.replace(/^\[|\]$/g, ''), allowHosts)
}
