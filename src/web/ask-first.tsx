import type { Config } from '../config.ts'
import { clientOf, pageBefore } from './client.ts'
import { factory } from './factory.ts'
import { Button, ButtonLink, HiddenFields } from './form.tsx'
import type { Question } from './form.tsx'
import { fieldsOf, textsBut } from './form-fields.ts'
import { show } from './respond.tsx'

/**
 * Asks the question of a form that was sent without script, where no dialog did: the answer is a page
 * that says it, with the same form to be sent on.
 */
export const askFirst = (config: Pick<Config, 'url'>) =>
  factory.createMiddleware(async function askBefore(c, next) {
    const mayAsk = c.req.method === 'POST' && clientOf(c) === 'browser' && !c.var.token
    const fields = mayAsk ? await fieldsOf(c) : null
    const question = fields?.get('_question')?.at(-1)
    if (!fields || typeof question !== 'string') return next()
    const answer = fields.get('_answer')?.at(-1)
    const action = c.req.path + new URL(c.req.url).search
    const sent = textsBut(fields, ['_question', '_answer'])
    const back = pageBefore(c, config) ?? '/dashboard'
    return show(c, {
      title: 'Are you sure?',
      page: () => (
        <QuestionPage
          question={{ text: question, answer: typeof answer === 'string' ? answer : 'Continue' }}
          {...{ action, sent, back }}
        />
      ),
    })
  })

const QuestionPage = ({
  question: { text, answer },
  action,
  sent,
  back,
}: {
  question: Question
  action: string
  sent: ReturnType<typeof textsBut>
  back: string
}) => {
  const [ask, ...consequences] = text.split(/(?<=\?) /)
  return (
    <form class="form narrow" method="post" action={action}>
      <h1>{ask}</h1>
      {consequences.length > 0 && <p>{consequences.join(' ')}</p>}
      <HiddenFields fields={sent} />
      <div class="form-actions start">
        <Button variant="destructive">{answer}</Button>
        <ButtonLink variant="outline" href={back}>
          Cancel
        </ButtonLink>
      </div>
    </form>
  )
}
