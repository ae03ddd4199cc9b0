// elements.js - creates elements of the page. Text is only ever set as text, so that no name in a trace can become markup.

/** Returns an element with properties ("class", "for" and "data-*" as attributes) and children, of which false ones are skipped. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (key in made && typeof value !== 'string') made[key] = value;
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter(child => child || child === 0));
  return made;
}

export const byId = id => document.getElementById(id);

/** Returns a button. */
export const button = (text, onclick, properties = {}) => element('button', { type: 'button', onclick, ...properties }, text);
