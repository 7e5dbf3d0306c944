import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { Fact } from '../web/components.tsx'
import { CopyButton } from '../web/copy.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import { connectionOf } from './compose/connection.ts'
import { askedFor } from './compose/values.ts'
import { fullValues } from './definition.ts'
import type { Definition } from './definition.ts'
import { servicePath } from './own-service.ts'
import type { Service } from './store.ts'

/** A line for clients that connect. `value` is null while it is secret and not shown. */
export type Detail = { label: string; value: string | null }

/** The lines for clients, and the names of the secrets, with their values only on request. */
export function detailsOf(
  deps: { config: Config; db: Db },
  definition: Definition,
  { withSecrets }: { withSecrets: boolean },
): Detail[] {
  const { file, host } = definition
  const values = fullValues(deps, definition)
  const connection = connectionOf(file, { host: host ?? '', values })
  const shown = new Set(connection.map(({ value }) => value))
  const others = askedFor(file.variables).flatMap(({ name, label, secret }) => {
    const value = values.get(name)
    return secret && value && !shown.has(value) ? [{ label, value, secret }] : []
  })
  return [...connection, ...others].map(({ label, value, secret }) => ({
    label,
    value: secret && !withSecrets ? null : value,
  }))
}

/** Secret parts are loaded only on request. */
export const ConnectionDetails = ({
  service,
  details,
}: {
  service: Service
  details: Detail[]
}) => {
  const path = `${servicePath(service)}/secrets`
  return (
    <section id="connection" aria-labelledby="connection-heading">
      <div class="section-head">
        <h2 id="connection-heading">Connection</h2>
        {details.some(({ value }) => value === null) && (
          <ButtonLink
            variant="outline"
            small
            href={path}
            hx-get={path}
            hx-target="#connection"
            hx-swap="outerHTML"
          >
            Show secrets
          </ButtonLink>
        )}
      </div>
      {details.length === 0 ? (
        <p class="muted">This service has no connection details and no secrets.</p>
      ) : (
        <dl class="facts connection">
          {details.map((detail) => (
            <DetailFact {...detail} />
          ))}
        </dl>
      )}
    </section>
  )
}

export const DetailFact = ({ label, value }: Detail) => (
  <Fact name={label}>
    {value === null ? (
      <span class="secret">
        <Icon name="lock" />
        secret
      </span>
    ) : (
      <>
        <code>{value}</code>
        {value && <CopyButton text={value} what={label} />}
      </>
    )}
  </Fact>
)
