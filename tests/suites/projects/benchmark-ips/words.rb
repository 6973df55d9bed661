def count(text)
  text.split.size
end
