import { createHmac } from 'node:crypto'
import { randomBytesOf } from '../../platform/secrets.ts'
import { lineField } from '../../web/labelled-fields.ts'
import { urlField } from '../../web/address-fields.ts'
import { call } from './request.ts'
import { SendFailure, senderOf } from './sender.ts'

const prefix = 'whsec_'

/** Signed as Standard Webhooks says: https://www.standardwebhooks.com */
export const webhook = senderOf({
  label: 'Webhook',
  fields: (config) => ({
    url: urlField('URL', config, {
      example: 'https://example.com/hooks/davit',
      hasQuery: true,
      hint: 'Receives a POST with JSON. It must respond with a status of 2xx within 20 seconds.',
    }),
    secret: lineField('Signing secret', {
      max: 200,
      type: 'password',
      hint: 'Leave empty to have one created.',
      code: true,
    })
      .refine(isSecret, 'must be whsec_ followed by 24 to 64 bytes in base64.')
      .nullish(),
  }),
  async send(deps, { url, secret }, message) {
    const { id, kind: type, at, only: _, ...data } = message
    const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
    if (!secret)
      throw new SendFailure(
        'secret_missing',
        'The channel has no signing secret.',
        'Edit the channel and enter one.',
        { retry: false },
      )
    const timestamp = Math.floor(Date.now() / 1000)
    return call(deps, {
      title: 'The webhook',
      url,
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${sign(`${id}.${timestamp}.${body}`, secret)}`,
      },
      body,
      hints: { 410: 'The receiver says that it no longer exists. Remove the channel.' },
      // a receiver that is being deployed may respond in any other way
      mayPass: (status) => status !== 410,
    })
  },
})

export const newSecret = () => prefix + Buffer.from(randomBytesOf(32)).toString('base64')

const keyOf = (secret: string) => Buffer.from(secret.slice(prefix.length), 'base64')

const sign = (text: string, secret: string) =>
  createHmac('sha256', keyOf(secret)).update(text).digest('base64')

function isSecret(text: string) {
  const key = keyOf(text)
  return (
    text.startsWith(prefix) &&
    key.length >= 24 &&
    key.length <= 64 &&
    key.toString('base64').replace(/=+$/, '') === text.slice(prefix.length).replace(/=+$/, '')
  )
}
