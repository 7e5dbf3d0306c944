import type { Context } from 'hono'
import type { Config } from '../config.ts'
import { clientOf, pageBefore } from './client.ts'
import { factory } from './factory.ts'
import { Button, ButtonLink, HiddenFields, PostForm } from './form.tsx'
import type { Question } from './form.tsx'
import { fieldsOf, textsBut } from './form-fields.ts'
import { show } from './respond.tsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Answers a form that was sent without script with a page that has the question and the same form. */
export const askFirst = (config: Pick<Config, 'url'>) =>
  factory.createMiddleware(async function askBefore(c, next) {
    const mayAsk = c.req.method === 'POST' && clientOf(c) === 'browser' && !c.var.token
    const fields = mayAsk ? await fieldsOf(c) : null
    const question = fields?.get('_question')?.at(-1)
    if (!fields || typeof question !== 'string') return next()
    const answer = fields.get('_answer')?.at(-1)
    return askForm(c, config, {
      text: question,
      answer: typeof answer === 'string' ? answer : 'Continue',
    })
  })

/**
 * Shows a button's form that was refused because its page was open too long, so that one press sends it
 * again. Without this, its hidden values would be lost.
 */
export const askAgain = (c: Context, status: ContentfulStatusCode) =>
  askForm(
    c,
    { url: null },
    {
      text: 'Send this again? The page was open too long, so nothing was changed yet (its CSRF token has expired).',
      answer: 'Send again',
    },
    status,
  )

/** A page with a question and the submitted form, which is sent when it is answered. */
async function askForm(
  c: Context,
  config: Pick<Config, 'url'>,
  question: Question,
  status: ContentfulStatusCode = 200,
) {
  const fields = (await fieldsOf(c)) ?? new Map()
  const action = c.req.path + new URL(c.req.url).search
  const sent = textsBut(fields, ['_question', '_answer', 'csrf_token'])
  const back = pageBefore(c, config) ?? '/dashboard'
  const page = () => <QuestionPage {...{ question, action, sent, back }} />
  return show(c, { title: 'Are you sure?', page }, status)
}

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
    <PostForm class="form narrow" action={action}>
      <h1>{ask}</h1>
      {consequences.length > 0 && <p>{consequences.join(' ')}</p>}
      <HiddenFields fields={sent} />
      <div class="form-actions start">
        <Button variant="destructive">{answer}</Button>
        <ButtonLink variant="outline" href={back}>
          Cancel
        </ButtonLink>
      </div>
    </PostForm>
  )
}
