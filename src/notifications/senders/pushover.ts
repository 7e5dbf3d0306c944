import { tokenField } from './fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, cut, headline } from './text.ts'

const keyField = (label: string, hint: string) =>
  tokenField(label, hint).regex(/^[A-Za-z0-9]{30}$/, 'must be 30 letters and digits.')

export const pushover = senderOf({
  label: 'Pushover',
  fields: () => ({
    token: keyField('Application token', 'On pushover.net: Create an Application.'),
    userKey: keyField('User or group key', 'On the first page of pushover.net.'),
  }),
  async send(deps, { token, userKey: user }, message) {
    return call(deps, {
      title: 'Pushover',
      url: 'https://api.pushover.net/1/messages.json',
      body: {
        ...{ token, user },
        title: cut(headline(message), 250),
        message: bodyOf(message, 1024),
        ...(message.url.length <= 512 && { url: message.url, url_title: 'Open in Davit' }),
        priority: message.level === 'failure' ? 1 : 0,
        timestamp: Math.floor(message.at.getTime() / 1000),
      },
      reasonIn: ({ errors }) => (Array.isArray(errors) ? errors.join('; ') : undefined),
      hints: {
        400: 'Check the token and the key.',
        429: 'The application’s messages of this month are used up: see pushover.net.',
      },
      // that limit ends with the month
      mayPass: (status) => status >= 500,
    })
  },
})
