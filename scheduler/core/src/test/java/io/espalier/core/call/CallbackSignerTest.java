package io.espalier.core.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a signature is, compared with the HMAC of the JDK. */
class CallbackSignerTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 36, 63, 64, 65, 200})
  void aSignatureIsAnHmacWhateverTheLengthOfTheKey(int length) throws Exception {
    String key = "k".repeat(length);
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    byte[] expected = mac.doFinal("3 2 job\u00e91id".getBytes(StandardCharsets.UTF_8));
    String signature = Base64.getUrlEncoder().withoutPadding().encodeToString(expected);
    CallbackSigner signer = new CallbackSigner(key);
    assertThat(signer.isGenuine("job", "\u00e91", "id", signature)).isTrue();
    assertThat(signer.isGenuine("job\u00e9", "1", "id", signature)).isFalse();
    assertThat(signer.isGenuine("job", "\u00e91", "id", signature + "A")).isFalse();
  }
}
