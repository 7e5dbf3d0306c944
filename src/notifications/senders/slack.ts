import { urlField } from '../../web/address-fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, cut, headline } from './text.ts'

/** Slack, and chats that accept the same requests, such as Mattermost. */
export const slack = senderOf({
  label: 'Slack',
  fields: (config) => ({
    webhookUrl: urlField('Webhook URL', config, {
      example: 'https://hooks.slack.com/services/T…/B…/…',
      onlyHttps: true,
      hint: 'In your Slack app: Incoming Webhooks, Add New Webhook.',
      code: true,
    }),
  }),
  async send(deps, { webhookUrl }, message) {
    const title = cut(headline(message), 150)
    const link = `<${message.url}|Open in Davit>`
    return call(deps, {
      title: 'Slack',
      url: webhookUrl,
      body: {
        // for notifications, and for chats without blocks
        text: `*${escape(title)}*\n${escape(bodyOf(message, 3000))}\n${link}`,
        unfurl_links: false,
        blocks: [
          { type: 'header', text: plain(title) },
          { type: 'section', text: plain(bodyOf(message, 3000)) },
          { type: 'section', text: { type: 'mrkdwn', text: link } },
        ],
      },
      reasonIn: (_, text) => text,
      hints: {
        403: 'The webhook was removed, or its app may not post there. Add another one.',
        404: 'The webhook or its channel was removed. Add another one.',
        410: 'The channel is archived. Add a webhook of another one.',
      },
    })
  },
})

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** In mrkdwn only these three are special; the rest is decoration. */
const escape = (text: string) =>
  text.replace(/[&<>]/g, (char) => ({ '&': '&amp;', '<': '&lt;' })[char] ?? '&gt;')
