import { lineField } from '../../web/labelled-fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, cut, escapeHtml, headline } from './text.ts'

/** In characters after formatting: Telegram accepts 4096. */
const maxLength = { title: 300, body: 3600 }

export const telegram = senderOf({
  label: 'Telegram',
  fields: () => ({
    token: lineField('Bot token', {
      max: 100,
      type: 'password',
      hint: '@BotFather shows it when you create a bot.',
      code: true,
    }).regex(/^\d+:[\w-]{20,}$/, 'must be the token of a bot, such as 123456:ABC….'),
    chat: lineField('Chat', {
      max: 100,
      hint: 'The id of a person, group or channel that the bot may write to.',
      code: true,
    }).regex(
      /^(-?\d{1,20}|@\w{5,32})$/,
      'must be the id of a chat, such as -1001234567890, or the @name of a public one.',
    ),
  }),
  async send(deps, { token, chat }, message) {
    const title = escapeHtml(cut(headline(message), maxLength.title))
    const body = escapeHtml(bodyOf(message, maxLength.body))
    return call(deps, {
      title: 'Telegram',
      url: `https://api.telegram.org/bot${token}/sendMessage`,
      body: {
        chat_id: chat,
        parse_mode: 'HTML',
        text: `<b>${title}</b>\n\n${body}\n\n<a href="${escapeHtml(message.url)}">Open in Davit</a>`,
        link_preview_options: { is_disabled: true },
      },
      reasonIn: ({ description }) => description,
      retryAfterIn: ({ parameters }) => parameters?.retry_after,
      hints: {
        400: 'Check the id of the chat. A person must write to the bot first.',
        401: 'The bot’s token is wrong or was revoked. Ask @BotFather for it.',
        403: 'The bot was blocked, or isn’t in that chat. Start it, or add it there.',
        404: 'The bot’s token is wrong. Ask @BotFather for it.',
      },
    })
  },
})
