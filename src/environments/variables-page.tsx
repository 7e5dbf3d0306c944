import { EmptyState } from '../web/components.tsx'
import { Icon } from '../web/icons.tsx'
import { Live } from '../web/live.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import type { Variable } from './variable-store.ts'
import { holdsReference } from './variables-text.ts'
import { ButtonLink } from '../web/form.tsx'
import { ChangesNote, EnvironmentFrame } from './environment-frame.tsx'
import type { EnvironmentHead } from './head.ts'

/** A variable that an app gets beside its own. */
export type GivenVariable = {
  key: string
  /** Null when it is secret, or unknown before the next deployment. */
  value: string | null
  secret: boolean
  /** The service that provides it, and its name there; null for one of Davit's own. */
  link: { service: { id: string; name: string }; provides: string; isBroken: boolean } | null
}

type VariablesPageProps = {
  head: EnvironmentHead
  variables: Variable[]
  /** In order of precedence: among equal keys the last one is used. */
  given: GivenVariable[]
}

const NewVariable = ({ environment: { id } }: Pick<EnvironmentHead, 'environment'>) => (
  <ButtonLink icon="plus" opens={`/envs/${id}/variables/new`}>
    New variable
  </ButtonLink>
)

/** Shows an app's variables and their sources. Secret values are never included. */
export const VariablesPage = ({ head, variables, given }: VariablesPageProps) => {
  const { environment } = head
  const own = new Set(variables.map(({ key }) => key))
  const linked = given.filter(({ link }) => link)
  return (
    <EnvironmentFrame head={head} tab="variables">
      <Live id="own-variables">
        <ChangesNote environment={environment}>
          <ButtonLink variant="outline" href={`/envs/${environment.id}/variables/text`}>
            Edit as text
          </ButtonLink>
          {variables.length > 0 && <NewVariable environment={environment} />}
        </ChangesNote>
        {variables.length === 0 ? (
          <EmptyState title="No variables yet">
            <p>The app gets them as environment variables. Davit sets PORT, unless you do.</p>
            <NewVariable environment={environment} />
          </EmptyState>
        ) : (
          <ul class="rows">
            {variables.map((variable) => (
              <VariableRow
                variable={variable}
                replaced={given.findLast(({ key }) => key === variable.key)}
              />
            ))}
          </ul>
        )}
      </Live>
      <Live id="linked-variables" as="section" aria-labelledby="linked-heading">
        <div class="section-head">
          <h2 id="linked-heading">From linked services</h2>
          <ButtonLink variant="outline" small href={`/envs/${environment.id}/links`}>
            Linked services
          </ButtonLink>
        </div>
        {linked.length === 0 ? (
          <p class="muted">No linked services. A linked database adds its address and password.</p>
        ) : (
          <GivenList given={linked} own={own} />
        )}
      </Live>
      <section aria-labelledby="davit-heading">
        <h2 id="davit-heading">From Davit</h2>
        <GivenList given={given.filter(({ link }) => !link)} own={own} />
      </section>
    </EnvironmentFrame>
  )
}

export const asItStands = 'the app gets ${…} as it stands'

const VariableRow = ({
  variable,
  replaced,
}: {
  variable: Variable
  replaced: GivenVariable | undefined
}) => (
  <li id={`variable-${variable.id}`} class="row variable-row">
    <code class="row-title">{variable.key}</code>
    <div class="row-main">
      <Value {...variable} />
      {variable.buildTime && <span class="tag">build time</span>}
      {(replaced || holdsReference(variable.value)) && (
        <p class="row-facts">
          {holdsReference(variable.value) && <span>{asItStands}</span>}
          {replaced && (
            <span>
              overrides the one from <Source {...replaced} />
            </span>
          )}
        </p>
      )}
    </div>
    <div class="row-actions">
      <DialogButton path={variablePath(variable)} label={`Edit ${variable.key}`}>
        Edit
      </DialogButton>
      <DeleteButton
        path={variablePath(variable)}
        label={`Delete ${variable.key}`}
        question={{ text: `Delete the variable ${variable.key}?`, answer: 'Delete variable' }}
      >
        Delete
      </DeleteButton>
    </div>
  </li>
)

/** Read-only, with a note when overridden. */
const GivenList = ({ given, own }: { given: GivenVariable[]; own: Set<string> }) => (
  <ul class="rows">
    {given.map((variable, index) => {
      const later = given.slice(index + 1).find(({ key }) => key === variable.key)
      const isUsed = !own.has(variable.key) && !later
      return (
        <li class="row variable-row">
          <code class={isUsed ? 'row-title' : 'row-title muted'}>{variable.key}</code>
          <div class="row-main">
            {variable.link?.isBroken ? <span class="tag">missing</span> : <Value {...variable} />}
            {!isUsed && <span class="tag">not used</span>}
            <p class="row-facts">
              {variable.link && (
                <span>
                  {variable.link.isBroken ? 'no longer provided by' : 'from'}{' '}
                  <Source {...variable} />
                </span>
              )}
              {own.has(variable.key) ? (
                <span>your own value is used</span>
              ) : (
                later && (
                  <span>
                    the one from <Source {...later} /> is used
                  </span>
                )
              )}
            </p>
          </div>
        </li>
      )
    })}
  </ul>
)

const Source = ({ link }: Pick<GivenVariable, 'link'>) =>
  link ? (
    <a href={`/services/${link.service.id}`}>
      <bdi>{link.service.name}</bdi>
    </a>
  ) : (
    <>Davit</>
  )

const Value = ({ value, secret }: { value: string | null; secret: boolean }) =>
  secret ? (
    <span class="secret">
      <Icon name="lock" />
      <span aria-hidden="true">••••••••</span>
      <span class="visually-hidden">secret</span>
    </span>
  ) : value === null ? (
    <span class="row-facts">set with each deployment</span>
  ) : (
    <code class="value" dir="auto">
      {value}
    </code>
  )

const variablePath = ({ id, environmentId }: Pick<Variable, 'id' | 'environmentId'>) =>
  `/envs/${environmentId}/variables/${id}`
