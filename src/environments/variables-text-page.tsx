import type { Draft } from '../web/draft.ts'
import { FormError, TextArea } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { EnvironmentFrame } from './environment-frame.tsx'
import type { EnvironmentHead } from './head.ts'
import { VariableChanges } from './variable-changes.tsx'
import type { VariableChange } from './variable-changes.tsx'
import { asItStands } from './variables-page.tsx'
import { kept } from './variables-text.ts'

/** The changes that saving would make, and a digest that identifies them. */
export type VariablesTextProps = {
  changes: VariableChange[]
  /** Keys whose new value has a reference. */
  references: string[]
  hasComments: boolean
  digest: string
}

type Props = {
  head: EnvironmentHead
  /** The stored variables. */
  text: string
  draft: Draft
  shown: VariablesTextProps | null
}

/** Shows the changes before they are saved. */
export const VariablesTextPage = ({ head, text, draft, shown }: Props) => {
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
