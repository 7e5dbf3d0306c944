import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { looksSecret } from '../logs/secret-names.ts'
import { pause } from '../platform/pause.ts'
import type { Secrets } from '../platform/secrets.ts'
import { clientOf } from '../web/client.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { moveOn, show } from '../web/respond.tsx'
import { variablesTextForm } from './forms.ts'
import { headOf, lookOf } from './head.ts'
import type { HeadDeps, EnvironmentHead } from './head.ts'
import { variableJson } from './json.ts'
import { checkEnvironment, liveEnvironment, ownEnvironment } from './own-environment.ts'
import { listVariables, openVariables, setVariables } from './variable-store.ts'
import { changesOf, holdsReference, readText, textOf, kept } from './variables-text.ts'
import { FormError, TextArea } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { EnvironmentFrame } from './environment-frame.tsx'
import { VariableChanges } from './variable-changes.tsx'
import type { VariableChange } from './variable-changes.tsx'
import { asItStands } from './variables-page.tsx'

/** Shows the variables of an environment as one text, which never has a secret's value. */
export const variableTextRoutes = (deps: HeadDeps & { secrets: Secrets }) => {
  const { db, secrets } = deps
  const audit = auditor(db)
  const ownFirst = checkEnvironment(deps)

  return factory
    .createApp()
    .get('/envs/:envId/variables/text', (c) => show(c, textView(c, emptyDraft)))
    .put('/envs/:envId/variables', ownFirst, input(variablesTextForm, textView), async (c) => {
      const { environment, project } = liveEnvironment(deps, c)
      const environmentId = environment.id
      const { text: typed, shown: digest } = c.var.input
      const text = typed ?? ''
      const stored = openVariables(db, secrets, environmentId)
      const read = readText(text, stored)
      const changes = changesOf(read, { stored, isSecret: looksSecret })
      const shown = {
        changes,
        references: changes.flatMap(({ key }) =>
          holdsReference(read.pairs.get(key) ?? null) ? [key] : [],
        ),
        hasComments: read.hasComments,
        digest: digestOf({ text, environmentId }),
      }
      // A person saves exactly what was shown, and not over someone else's later change.
      if (clientOf(c) !== 'program' && digest !== shown.digest)
        return show(
          c,
          textView(c, { ...emptyDraft, values: { text }, message: digest ? again : null }, shown),
        )
      const ids = new Map(listVariables(db, environmentId).map(({ key, id }) => [key, id]))
      const { pairs, unchanged } = read
      const isSecret = looksSecret
      setVariables(db, secrets, { environmentId, pairs, field: 'text', isSecret, kept: unchanged })
      const items = listVariables(db, environmentId)
      for (const { key, id } of items) ids.set(key, id)
      for (const { key, change } of changes) {
        const name = `${key} of ${project.name} ${environment.name}`
        audit(c, events[change], { object: { kind: 'variable', id: ids.get(key)!, name } })
        await pause()
      }
      const to = `/envs/${environmentId}/variables`
      return moveOn(c, { to, json: () => ({ items: items.map(variableJson), nextCursor: null }) })
    })

  function textView(c: Context, draft: Draft, shown: VariablesTextProps | null = null) {
    const of = ownEnvironment(deps, c)
    const { environment, project } = of
    const text = textOf(listVariables(db, environment.id))
    const head = headOf(deps, of)
    return {
      title: `${project.name}: variables of ${environment.name}`,
      state: lookOf(head),
      page: () => <VariablesTextPage {...{ head, text, draft, shown }} />,
      json: () => ({ text }),
      live: {},
    }
  }

  /** Identifies a text and the changes that it would make. */
  function digestOf({ text, environmentId }: { text: string; environmentId: string }) {
    const stored = openVariables(db, secrets, environmentId)
    return secrets.sign(
      `variables ${environmentId} ${JSON.stringify([stored.map(({ key, value }) => [key, value]), text])}`,
    )
  }
}

const again = 'The text or the stored variables changed meanwhile. Check the changes again.'

const events = {
  added: 'variable.created',
  changed: 'variable.changed',
  removed: 'variable.deleted',
} as const

/** The changes that saving would make, and a digest that identifies them. */
type VariablesTextProps = {
  changes: VariableChange[]
  /** Keys whose new value has a reference. */
  references: string[]
  hasComments: boolean
  digest: string
}

type Props = {
  head: EnvironmentHead
  text: string
  draft: Draft
  shown: VariablesTextProps | null
}

const VariablesTextPage = ({ head, text, draft, shown }: Props) => {
  const path = `/envs/${head.environment.id}/variables`
  const typed = draft.values.text ?? text
  return (
    <EnvironmentFrame head={head} tab="variables">
      <PostForm class="form" action={path} method="PUT" draft={draft}>
        <h2>Edit as text</h2>
        <FormError />
        <TextArea
          name="text"
          label="Variables"
          value={text}
          rows={Math.min(24, Math.max(8, typed.split('\n', 24).length + 1))}
          placeholder={'DATABASE_URL=postgres://…\nGREETING="Hello, sailor"'}
          hint={`One KEY=value per line, as in a .env file. ${kept} keeps the value of a secret. Without its line, a variable is removed. Comments aren’t kept.`}
          secret
          code
        />
        {shown && <Changes {...shown} />}
        <div class="form-actions">
          <ButtonLink variant="outline" href={path}>
            Cancel
          </ButtonLink>
          {shown && shown.changes.length > 0 ? (
            <>
              <input type="hidden" name="shown" value={shown.digest} />
              <Button>Save changes</Button>
            </>
          ) : (
            <Button>Show changes</Button>
          )}
        </div>
      </PostForm>
    </EnvironmentFrame>
  )
}

const Changes = ({ changes, hasComments, references }: VariablesTextProps) => (
  <section class="note" role="status" aria-labelledby="changes-heading">
    <h3 id="changes-heading">
      {changes.length === 0
        ? 'Nothing changes'
        : changes.length === 1
          ? 'One variable changes'
          : `${changes.length} variables change`}
    </h3>
    {changes.length > 0 && (
      <VariableChanges
        changes={changes}
        notes={new Map(references.map((key) => [key, asItStands]))}
      />
    )}
    {hasComments && <p>Comments are left out.</p>}
  </section>
)
