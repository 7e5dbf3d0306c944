import { createContext, useContext } from 'hono/jsx'

/** The name that a user goes by; null where an address is no user's, or they gave none. */
export type NameOf = (email: string) => string | null

/** Set for what is drawn for a request. */
export const People = createContext<NameOf>(() => null)

/** Who did something: their name, and their e-mail address, by which they are known, in its tooltip. */
export const Person = ({ email }: { email: string }) => {
  const name = useContext(People)(email)
  return name ? (
    <bdi title={email}>
      {name}
      <span class="visually-hidden"> ({email})</span>
    </bdi>
  ) : (
    <bdi>{email}</bdi>
  )
}
