import { LockIcon } from '../web/icons.tsx'
import { servicePath } from './own-service.ts'
import type { Service } from './store.ts'
import { ButtonLink } from '../web/form.tsx'

/** A line of how clients reach an instance; `value` null: secret, and not shown yet. */
export type Detail = { label: string; value: string | null }

/** How clients reach it. What is secret in that is fetched when it is asked for. */
export const ConnectionDetails = ({
  service,
  details,
}: {
  service: Service
  details: Detail[]
}) => {
  const hasHidden = details.some(({ value }) => value === null)
  return (
    <section id="connection" aria-labelledby="connection-heading">
      <div class="section-head">
        <h2 id="connection-heading">Connection</h2>
        {hasHidden && (
          <ButtonLink
            variant="outline"
            small
            href={`${servicePath(service)}/secrets`}
            hx-get={`${servicePath(service)}/secrets`}
            hx-target="#connection"
            hx-swap="outerHTML"
          >
            Show secrets
          </ButtonLink>
        )}
      </div>
      <dl class="facts connection">
        {details.map(({ label, value }) => (
          <div>
            <dt>{label}</dt>
            <dd>
              {value === null ? (
                <span class="secret">
                  <LockIcon />
                  secret
                </span>
              ) : (
                <code>{value}</code>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
