import { urlField } from '../../web/address-fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, cutTo, headline, looks } from './text.ts'

export const discord = senderOf({
  label: 'Discord',
  fields: (config) => ({
    webhookUrl: urlField('Webhook URL', config, {
      example: 'https://discord.com/api/webhooks/…',
      onlyHttps: true,
      hasQuery: true, // such as ?thread_id=
      hint: 'In the settings of the Discord channel: Integrations, Webhooks.',
      code: true,
    }),
  }),
  async send(deps, { webhookUrl }, message) {
    const { url, at, level } = message
    return call(deps, {
      title: 'Discord',
      url: webhookUrl,
      body: {
        allowed_mentions: { parse: [] },
        embeds: [
          {
            title: escape(cutTo(headline(message), 256, escapedSize)),
            description: escape(bodyOf(message, 4096, escapedSize)),
            url,
            color: looks[level].color,
            timestamp: at.toISOString(),
          },
        ],
      },
      reasonIn: ({ message }) => message,
      retryAfterIn: ({ retry_after }) => retry_after,
      hints: {
        401: 'The webhook’s token is wrong. Copy its URL again.',
        404: 'The webhook was removed. Create another one.',
      },
    })
  },
})

const escape = (text: string) => text.replace(/[\\*_~`|<>#[\]]/g, '\\$&')

const escapedSize = (text: string) => escape(text).length
