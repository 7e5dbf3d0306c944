import { field } from '../../web/schema-fields.tsx'
import { tokenField } from './fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, cut, headline } from './text.ts'

const keyPattern = /^[A-Za-z0-9]{30}$/

export const pushover = senderOf({
  label: 'Pushover',
  fields: () => ({
    token: field(tokenField('a token').regex(keyPattern, 'must be 30 letters and digits.'), {
      label: 'Application token',
      type: 'password',
      hint: 'On pushover.net: Create an Application.',
      code: true,
    }),
    userKey: field(tokenField('a key').regex(keyPattern, 'must be 30 letters and digits.'), {
      label: 'User or group key',
      type: 'password',
      hint: 'On the first page of pushover.net.',
      code: true,
    }),
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
