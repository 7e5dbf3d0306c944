import { EmptyState } from '../web/components.tsx'
import { LockIcon } from '../web/icons.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { PasteDotenv } from './variable-forms.tsx'
import type { Variable } from './variable-store.ts'
import { ButtonLink } from '../web/form.tsx'
import type { Project } from '../projects/store.ts'
import { ChangesNote, EnvironmentFrame } from './environment-frame.tsx'
import type { Environment } from './store.ts'

/** A variable that the app gets beside its owner's own. */
export type GivenVariable = {
  key: string
  /** Null when it is secret, or not known before the next deployment. */
  value: string | null
  secret: boolean
  /** The service it comes from, and what that calls it; null for one of Davit's own. */
  link: { service: { id: string; name: string }; provides: string; isBroken: boolean } | null
}

type VariablesPageProps = {
  project: Project
  environment: Environment
  variables: Variable[]
  /** In the order in which they win: of two with one key the later one is used. */
  given: GivenVariable[]
}

/** What the app of one environment gets, and where it is from. A secret's value is never here to be shown. */
export const VariablesPage = ({ project, environment, variables, given }: VariablesPageProps) => {
  const own = new Set(variables.map(({ key }) => key))
  const linked = given.filter(({ link }) => link)
  return (
    <EnvironmentFrame
      {...{ project, environment }}
      tab="variables"
      actions={
        <ButtonLink opens={`/envs/${environment.id}/variables/new`}>New variable</ButtonLink>
      }
    >
      <ChangesNote {...{ project, environment }} />
      {variables.length === 0 ? (
        <EmptyState title="No variables of your own yet">
          <p>The app gets them as its environment. PORT is set by Davit.</p>
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
      <PasteDotenv environment={environment} />
      <section aria-labelledby="linked-heading">
        <div class="section-head">
          <h2 id="linked-heading">From linked services</h2>
          <ButtonLink variant="outline" small href={`/envs/${environment.id}/links`}>
            Linked services
          </ButtonLink>
        </div>
        {linked.length === 0 ? (
          <p class="muted">
            No service is linked. A linked database adds its address and password.
          </p>
        ) : (
          <GivenList given={linked} own={own} />
        )}
      </section>
      <section aria-labelledby="davit-heading">
        <h2 id="davit-heading">From Davit</h2>
        <GivenList given={given.filter(({ link }) => !link)} own={own} />
      </section>
    </EnvironmentFrame>
  )
}

const VariableRow = ({
  variable,
  replaced,
}: {
  variable: Variable
  /** What the app would get without it. */
  replaced: GivenVariable | undefined
}) => (
  <li class="row variable-row">
    <code class="row-title">{variable.key}</code>
    <div class="row-main">
      <Value {...variable} />
      {variable.buildTime && <span class="tag">build time</span>}
      {replaced && (
        <p class="row-facts">
          <span>
            used in place of the one from <Source {...replaced} />
          </span>
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

/** Those that can't be changed here; what an own one of the same key replaces says so. */
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
      <LockIcon />
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
